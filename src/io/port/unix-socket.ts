import { chmodSync } from "node:fs";
import { lstat, unlink } from "node:fs/promises";
import { connect, type Server } from "node:net";
import { isMainThread } from "node:worker_threads";

/**
 * Listens on a Unix socket that only its user may connect to. The umask of the process ensures that from the start: the socket is created
 * before `listen` returns, so no other code of this thread sees the umask. A worker thread cannot set it, and changes the mode right after.
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

/** Removes a Unix socket on which nobody listens: a killed server leaves it behind. Anything else stays. */
export async function removeStale(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (found?.isSocket() !== true) return;
  const stale = await new Promise<boolean>((resolve) => {
    const socket = connect(path);
    socket.once("connect", () => {
      socket.destroy();
      resolve(false);
    });
    // A busy server gives another error.
    socket.once("error", ({ code }: NodeJS.ErrnoException) => resolve(code === "ECONNREFUSED"));
  });
  if (stale) await unlink(path).catch(() => {});
}
