import { createReadStream } from "node:fs";
import { lstat, mkdir, open, rename, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Fault } from "../api/index.js";

/** Octets of a line: line n begins at n times this. */
const LINE = 64;
export const BIG_FILE_LINES: number = 1024 * 1024;
export const BIG_FILE_SIZE: number = BIG_FILE_LINES * LINE;

const CHUNK = 64 * 1024;

/** The text of a file in the system's temporary directory, from `offset` on. The file is made when it is first wanted, and kept. */
export async function* bigFile(offset: number): AsyncGenerator<string, void, undefined> {
  yield* createReadStream(await made(), { start: offset, highWaterMark: CHUNK, encoding: "latin1" });
}

let making: Promise<string> | undefined;

function made(): Promise<string> {
  making ??= make().catch((error: unknown) => {
    making = undefined;
    throw error;
  });
  return making;
}

async function make(): Promise<string> {
  const directory = join(tmpdir(), `anywire-demo-${process.getuid?.() ?? "files"}`);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const owner = await lstat(directory);
  // Anyone may make a name in the temporary directory: what somebody else put there is not written into.
  if (!owner.isDirectory() || (process.getuid !== undefined && owner.uid !== process.getuid()))
    throw new Fault("unavailable", `${directory} is somebody else's`);
  const file = join(directory, `lines-${BIG_FILE_LINES}.txt`);
  const size = await stat(file).then(
    (found) => found.size,
    () => 0,
  );
  if (size === BIG_FILE_SIZE) return file;
  // Two demos may make it at once: whoever is done first puts it in place.
  const draft = `${file}.${process.pid}`;
  const handle = await open(draft, "w", 0o600);
  try {
    for (let line = 0; line < BIG_FILE_LINES; line += CHUNK / LINE) await handle.write(lines(line, CHUNK / LINE));
  } finally {
    await handle.close();
  }
  await rename(draft, file);
  return file;
}

function lines(from: number, count: number): string {
  let text = "";
  for (let line = from; line < from + count; line++)
    text += `${`line ${line} of ${BIG_FILE_LINES}, at byte ${line * LINE}`.padEnd(LINE - 1, ".")}\n`;
  return text;
}
