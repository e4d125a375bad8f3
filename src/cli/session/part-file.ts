import { constants } from "node:fs";
import { type FileHandle, open, rename, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { Fault, type ResourceChunk } from "../../api/index.js";
import { codeOf } from "../../stream/index.js";
import { misuse } from "./mistake.js";

/** A file that may be written in several runs. It has another name until it is complete. */
export interface PartFile {
  /** The name of the file while it is written. */
  readonly name: string;
  /** The bytes written so far. */
  readonly size: number;
  /** Checks that a chunk continues where the file ends, at `at` of the resource. */
  accept(chunk: ResourceChunk, at: number): void;
  write(data: string | Uint8Array): Promise<void>;
  /** Gives the file its final name. */
  finish(): Promise<void>;
  close(): Promise<void>;
}

export async function partFile(path: string): Promise<PartFile> {
  const existing = await stat(path).catch(() => undefined);
  if (existing?.isDirectory()) throw misuse(`-o ${path}: is a directory`);
  // A device or a pipe cannot be replaced by a file, so it is written directly.
  const direct = existing !== undefined && !existing.isFile();
  const name = direct ? path : `${path}.part`;
  const handle = await opened(name, path, direct);
  if (!direct) await checkOurs(handle, name, path);
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

/** Does not follow a link, and does not wait for the other end of a pipe. Windows has neither flag. */
const guarded = constants.O_RDWR | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

async function opened(name: string, path: string, direct: boolean): Promise<FileHandle> {
  try {
    if (direct) return await open(name, "w");
    // Not truncated, because the download resumes.
    return await open(name, guarded).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOENT") throw error;
      return open(name, guarded | constants.O_CREAT | constants.O_EXCL);
    });
  } catch (error) {
    const code = codeOf(error);
    // The errors for a symbolic link, a pipe without a reader, or a socket.
    if (!direct && (code === "ELOOP" || code === "ENXIO" || code === "EEXIST")) throw notOurs(name, path);
    throw misuse(`-o ${path}: ${code === "ENOENT" ? `there is no directory ${dirname(path)}` : `cannot be written (${code})`}`);
  }
}

function notOurs(name: string, path: string): Fault {
  return misuse(`-o ${path}: ${name} is not a plain file of yours; delete it, or choose another name`);
}

/** Another user with access to the directory must not choose how the file begins, nor where its bytes go. */
async function checkOurs(handle: FileHandle, name: string, path: string): Promise<void> {
  const found = await handle.stat();
  const mine = process.getuid === undefined || found.uid === process.getuid();
  if (found.isFile() && found.nlink === 1 && mine) return;
  await handle.close();
  throw notOurs(name, path);
}

/** The bytes up to the last whole character: one that an interruption cut is read again. For binary data that does no harm. */
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
