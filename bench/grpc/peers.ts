import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

export interface Child {
  /** What it said first: of a server its port. */
  readonly port: number;
  /** Bytes resident after a collection, or microseconds of CPU so far. */
  ask(what: "memory" | "cpu"): Promise<number>;
  close(): Promise<void>;
}

/** Starts a role in a process of its own. */
export async function start(role: string, ...args: readonly string[]): Promise<Child> {
  const file = fileURLToPath(new URL(role === "hold" ? "./hold.js" : "./server.js", import.meta.url));
  const child: ChildProcess = fork(file, role === "hold" ? args : [role, ...args], { execArgv: ["--expose-gc"] });
  const ended = once(child, "exit").then(() => {
    throw new Error(`the ${role} of the bench ended`);
  });
  ended.catch(() => {});
  const said = async (): Promise<number> => (await Promise.race([once(child, "message"), ended]))[0] as number;
  return {
    port: await said(),
    ask(what) {
      child.send(what);
      return said();
    },
    async close() {
      child.disconnect();
      await ended.catch(() => {});
    },
  };
}
