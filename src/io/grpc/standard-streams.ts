import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, type Readable, type Writable } from "node:stream";

/**
 * Two pipes as one socket. HTTP/2 also takes a plain duplex, but Node's adapter for those (JSStreamSocket) throws an assertion that nobody
 * can catch when a session ends while its last write is under way; a real socket in between costs a copy and has no such end.
 */
export async function pipesSocket(readable: Readable, writable: Writable): Promise<Socket> {
  // At once: what a child writes before anyone reads is lost when it exits.
  const held = readable.pipe(new PassThrough());
  const [near, far] = await socketPair();
  held.pipe(far);
  far.pipe(writable);
  const end = (): void => void far.destroy();
  for (const stream of [readable, writable]) {
    stream.on("error", end);
    stream.once("close", end);
  }
  far.on("error", end);
  near.on("error", () => near.destroy());
  return near;
}

/** A socket and its peer in this process, on a path that nobody else can open and that is gone at once. */
async function socketPair(): Promise<[Socket, Socket]> {
  const windows = process.platform === "win32";
  const folder = windows ? undefined : await mkdtemp(join(tmpdir(), "anywire-"));
  const path = folder === undefined ? `\\\\.\\pipe\\anywire-${crypto.randomUUID()}` : join(folder, "pair");
  const server = createServer();
  try {
    server.listen(path);
    await once(server, "listening");
    const accepted = once(server, "connection") as Promise<[Socket]>;
    const near = connect(path);
    const [[far]] = await Promise.all([accepted, once(near, "connect")]);
    return [near, far];
  } finally {
    server.close();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  }
}
