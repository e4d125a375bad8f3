import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Fault } from "../core/index.js";
import { makeFolder } from "../io/index.js";
import { codeOf } from "../stream/index.js";

/** Writes files into a folder, which is made if it is not there. Throws a Fault that names the file that cannot be written. */
export async function writeFiles(
  folder: string,
  files: Iterable<readonly [path: string, content: string | Uint8Array]>,
  onWritten: () => void = () => {},
): Promise<void> {
  for (const [path, content] of files) {
    const target = join(folder, path);
    try {
      await makeFolder(dirname(target));
      await writeFile(target, content);
    } catch (cause) {
      throw new Fault("internal", `${target} cannot be written (${codeOf(cause) ?? (cause as Error).message})`, { cause });
    }
    onWritten();
  }
}
