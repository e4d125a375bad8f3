import { fileURLToPath } from "node:url";
import { createServer } from "vite";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Loads a module of the tests, with the source of the package under its own name. */
export async function load(path) {
  const server = await createServer({
    root,
    configFile: false,
    appType: "custom",
    logLevel: "error",
    server: { middlewareMode: true, ws: false, watch: null },
  });
  return server.ssrLoadModule(path);
}
