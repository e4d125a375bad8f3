import { chmodSync } from "node:fs";
import { lstat, unlink } from "node:fs/promises";
import { connect, type Server } from "node:net";
import { isMainThread } from "node:worker_threads";

/**
 * Listens on a Unix socket that its user alone may connect to. The mask of the process makes it so from the start: the socket is made
 * before `listen` returns, so nothing else of this thread sees the mask. A worker thread has none to set, and changes the mode at once.
 */
export function listenPrivately(server: Server, path: string, ready: () => void): void {
  if (!isMainThread) {
    server.listen(path, ready);
    if (server.listening) chmodSync(path, 0o600);
    return;
  }
  const before = process.umask(0o177);
  try {
    server.listen(path, ready);
  } finally {
    process.umask(before);
  }
}

/** Removes a Unix socket on which nobody listens: what a server that was killed leaves behind. Anything else stays. */
export async function removeStale(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (found?.isSocket() !== true) return;
  const stale = await new Promise<boolean>((resolve) => {
    const socket = connect(path);
    socket.once("connect", () => {
      socket.destroy();
      resolve(false);
    });
    // A server that is only busy is told by another error.
    socket.once("error", ({ code }: NodeJS.ErrnoException) => resolve(code === "ECONNREFUSED"));
  });
  if (stale) await unlink(path).catch(() => {});
}
