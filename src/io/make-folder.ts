import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { codeOf } from "../stream/index.js";

/** Makes a folder and those around it. Node's own `recursive` never ends where the file system refuses with ENOENT, as /proc does. */
export async function makeFolder(path: string, options: { readonly mode?: number } = {}): Promise<void> {
  try {
    await mkdir(path, options);
  } catch (error) {
    const parent = dirname(path);
    if (codeOf(error) === "ENOENT" && parent !== path && !(await isFolder(parent))) {
      await makeFolder(parent, options);
      await mkdir(path, options);
    } else if (!(await isFolder(path))) throw error;
  }
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() === true;
}
