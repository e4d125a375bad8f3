import { lstat, unlink } from "node:fs/promises";
import { connect } from "node:net";

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
