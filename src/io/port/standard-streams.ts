import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, type Readable, type Writable } from "node:stream";

/**
 * Two pipes as one socket. HTTP/2 also accepts a plain duplex, but Node's adapter for it (JSStreamSocket) throws an assertion that nobody
 * can catch when a session ends during its last write. A real socket in between costs a copy and does not have that problem.
 */
export async function pipesSocket(readable: Readable, writable: Writable): Promise<Socket> {
  // At once: what a child writes before anyone reads is lost when it exits.
  const held = readable.pipe(new PassThrough());
  const [near, far] = await socketPair(writable);
  held.pipe(far);
  const end = (): void => void far.destroy();
  for (const stream of [readable, writable]) stream.on("error", end);
  writable.once("close", end);
  readable.once("close", end);
  far.on("error", end);
  near.on("error", () => near.destroy());
  return near;
}

/** Bytes that are read at a time, always into the same buffer: allocating for each read costs more than the rest. */
const READ_BYTES = 128 * 1024;

/**
 * A socket and its peer in this process, on a path that nobody else can open and that is removed at once. What the peer receives is written
 * to `writable`.
 */
async function socketPair(writable: Writable): Promise<[near: Socket, far: Socket]> {
  const windows = process.platform === "win32";
  const folder = windows ? undefined : await mkdtemp(join(tmpdir(), "anywire-"));
  const path = folder === undefined ? `\\\\.\\pipe\\anywire-${crypto.randomUUID()}` : join(folder, "pair");
  const server = createServer();
  try {
    server.listen(path);
    await once(server, "listening");
    const accepted = once(server, "connection") as Promise<[Socket]>;
    const far = connect({ path, onread: { buffer: new Uint8Array(READ_BYTES), callback: pass } });
    function pass(count: number, buffer: Uint8Array): boolean {
      let written = false;
      let waits = false;
      writable.write(buffer.subarray(0, count), () => {
        written = true;
        if (waits) far.resume();
      });
      // The buffer is reused only after the system has its bytes. A pipe of this process usually takes them at once.
      waits = writable.writableLength > 0 && !written;
      return !waits;
    }
    far.once("end", () => writable.end()).resume();
    const [[near]] = await Promise.all([accepted, once(far, "connect")]);
    return [near, far];
  } finally {
    server.close();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  }
}
