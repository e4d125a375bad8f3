import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
const scripts = [
  "test/matrix/bridge.mjs",
  "test/fixtures/contract-server.mjs",
  "test/identity/fixtures/asker.mjs",
  "test/identity/fixtures/relay.mjs",
  "test/matrix/fixtures/modern-asker.mjs",
];

/**
 * Bundles the programs that tests start hundreds of times; a bundle starts in a third of the time. Tests find them by
 * `test/support/programs.ts`. Also the global set-up of vitest.
 */
export default async function bundlePrograms() {
  const outdir = fileURLToPath(new URL("../.cache/test-programs", import.meta.url));
  await build({
    absWorkingDir: root,
    entryPoints: scripts.map((path) => ({ in: path, out: basename(path, ".mjs") })),
    outdir,
    bundle: true,
    splitting: true,
    platform: "node",
    format: "esm",
    outExtension: { ".js": ".mjs" },
    logLevel: "error",
    // CommonJS modules in a bundle of ES modules still ask for Node's own by require.
    banner: { js: 'import { createRequire as cjs } from "node:module"; const require = cjs(import.meta.url);' },
  });
  process.env.ANYWIRE_TEST_PROGRAMS = outdir;
}
