import { stat } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Root } from "../../api/index.js";
import { misuse } from "./mistake.js";

/** Directories as roots to offer to the server. */
export function rootsOf(paths: readonly string[]): Promise<Root[]> {
  return Promise.all(
    paths.map(async (path) => {
      const full = resolve(path);
      const directory = await stat(full).then(
        (found) => found.isDirectory(),
        () => false,
      );
      if (!directory) throw misuse(`--root: there is no directory ${path}`);
      return { uri: pathToFileURL(full).href, name: basename(full) };
    }),
  );
}
