import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The file of a program that tests start often, by its URL: its bundle, where one was made (`tools/test-programs.mjs`). */
export function programFile(url: URL): string {
  const bundles = process.env["ANYWIRE_TEST_PROGRAMS"];
  return bundles === undefined ? fileURLToPath(url) : join(bundles, basename(url.pathname));
}
