import { type FileHandle, open, rename, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { Fault, type ResourceChunk } from "../../api/index.js";
import { misuse } from "./mistake.js";

/** A file that is written in several goes: under another name until it is whole. */
export interface PartFile {
  /** What it is called while it is written. */
  readonly name: string;
  /** Octets it has. */
  readonly size: number;
  /** Checks that a chunk goes on where the file ends, at `at` of the resource. */
  accept(chunk: ResourceChunk, at: number): void;
  write(data: string | Uint8Array): Promise<void>;
  /** Gives it its real name. */
  finish(): Promise<void>;
  close(): Promise<void>;
}

export async function partFile(path: string): Promise<PartFile> {
  const existing = await stat(path).catch(() => undefined);
  if (existing?.isDirectory()) throw misuse(`-o ${path}: is a directory`);
  // A device or a pipe cannot be replaced by a file: it is written as it is.
  const direct = existing !== undefined && !existing.isFile();
  const name = direct ? path : `${path}.part`;
  const handle = await opened(name, path, direct);
  let size = direct ? 0 : await wholeSize(handle);
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closed ??= handle.close();
    return closed;
  };
  return {
    name,
    get size() {
      return size;
    },
    accept(chunk, at) {
      if (chunk.offset !== at) throw new Fault("invalid-request", `the server gave the resource from ${chunk.offset}, not from ${at}`);
    },
    async write(data) {
      const bytes = typeof data === "string" ? Buffer.from(data) : data;
      for (let written = 0; written < bytes.byteLength; ) {
        const done = await handle.write(bytes, written, bytes.byteLength - written, direct ? null : size).catch(unwritten(path));
        written += done.bytesWritten;
        size += done.bytesWritten;
      }
    },
    async finish() {
      await close();
      if (!direct) await rename(name, path);
    },
    close,
  };
}

function unwritten(path: string): (error: NodeJS.ErrnoException) => never {
  return (error) => {
    const why = error.code === "ENOSPC" ? "no space is left" : `cannot be written (${error.code})`;
    throw new Fault("internal", `-o ${path}: ${why}`, { cause: error });
  };
}

async function opened(name: string, path: string, direct: boolean): Promise<FileHandle> {
  try {
    // Not to be emptied: what is there is gone on with.
    return await open(name, direct ? "w" : "r+").catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT" && !direct) return open(name, "w+");
      throw error;
    });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw misuse(`-o ${path}: ${code === "ENOENT" ? `there is no directory ${dirname(path)}` : `cannot be written (${code})`}`);
  }
}

/** Octets up to the last whole character: one that was cut off by an interruption is read anew. For octets that costs nothing. */
async function wholeSize(handle: FileHandle): Promise<number> {
  const { size } = await handle.stat();
  const tail = Buffer.alloc(Math.min(4, size));
  await handle.read(tail, 0, tail.length, size - tail.length);
  let back = 0;
  while (back < tail.length && ((tail[tail.length - 1 - back] ?? 0) & 0xc0) === 0x80) back++;
  const lead = tail[tail.length - 1 - back] ?? 0;
  const width = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  const whole = back + 1 < width ? size - back - 1 : size;
  if (whole < size) await handle.truncate(whole);
  return whole;
}
