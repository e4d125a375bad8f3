import { fileURLToPath } from "node:url";
import { build as esbuild } from "esbuild";
import { build as vite } from "vite";

const folder = fileURLToPath(new URL(".", import.meta.url));

/** A page's script with one wire: it is given the package as others install it, and puts `visit` into the page. */
const source = (wire: string): string => `
  import { connect, ${wire} } from "anywire/browser";
  import { visit } from "./page.mjs";
  globalThis.visit = (address) => visit(connect, address, [${wire}]);`;

/** Nothing but the client and its wire, for the size of that. */
const bare = (wire: string): string => `
  import { connect, ${wire} } from "anywire/browser";
  globalThis.open = (address) => connect(address, { wires: [${wire}] });`;

/** esbuild knows no module of Node in a page: one that is imported, however far away, makes it fail. */
export async function byEsbuild(wire: string, alone = false): Promise<string> {
  const { outputFiles } = await esbuild({
    stdin: { contents: alone ? bare(wire) : source(wire), resolveDir: folder },
    bundle: true,
    minify: true,
    format: "esm",
    write: false,
    logLevel: "silent",
  });
  return outputFiles[0]?.text ?? "";
}

export async function byVite(wire: string): Promise<string> {
  const entry = "virtual:page";
  const made = await vite({
    configFile: false,
    logLevel: "error",
    build: { write: false, target: "es2022", rolldownOptions: { input: entry, output: { format: "es" } } },
    plugins: [
      {
        name: "page",
        resolveId: (id) => (id === entry ? `${folder}entry.js` : undefined),
        load: (id) => (id === `${folder}entry.js` ? source(wire) : undefined),
      },
    ],
  });
  const [output] = Array.isArray(made) ? made : [made];
  if (output === undefined || !("output" in output)) throw new Error("nothing was built");
  return output.output[0].code;
}
