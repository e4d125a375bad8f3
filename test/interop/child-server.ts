import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/** A server that was started for a test. */
export interface ChildServer extends AsyncDisposable {
  readonly port: number;
}

const loopback = fileURLToPath(new URL("./fixtures/loopback.cjs", import.meta.url));

/** Starts a script that serves HTTP, on a port of its own choice unless one is given; resolves when it listens. Disposing it reaps it. */
export async function childServer(args: readonly string[], at = 0): Promise<ChildServer> {
  const child = spawn(process.execPath, ["--require", loopback, ...args], {
    env: { ...process.env, PORT: String(at) },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const exited = once(child, "exit");
  let said = "";
  const port = await new Promise<number>((resolve, reject) => {
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      const [, found] = /^listening on (\d+)$/m.exec((said = (said + text).slice(-4096))) ?? [];
      if (found !== undefined) resolve(Number(found));
    });
    void exited.then(() => reject(new Error(`the server ended before it listened: ${said}`)));
  });
  return {
    port,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}
