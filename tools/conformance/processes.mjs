import { fork, spawn } from "node:child_process";

/** Process groups that were started here and have not ended. */
const live = new Set();

function endGroup(pid) {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}

/** Ends everything that was started and still runs. */
export function endAll() {
  for (const pid of live) endGroup(pid);
}

/** What a process has started ends with it. */
function watch(child) {
  const { pid } = child;
  live.add(pid);
  child.once("exit", () => {
    endGroup(pid);
    live.delete(pid);
  });
}

/** Runs a command to its end, or for `ms` at most; gives its exit code, undefined if it was ended, and what it wrote. */
export function run(command, args, { ms, ...options }) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"], detached: true, ...options });
    child.once("error", reject);
    if (child.pid === undefined) return;
    watch(child);
    let output = "";
    let late = false;
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => void (output += text));
    const timer = setTimeout(() => {
      late = true;
      endGroup(child.pid);
    }, ms);
    child.once("close", (code) => {
      clearTimeout(timer);
      resolve({ code: late ? undefined : code, output: late ? `${output}\nended after ${ms} ms` : output });
    });
  });
}

/** Starts a module that sends its address when it listens, and ends when it is let go. */
export async function start(module, args, stderr) {
  const child = fork(module, args, { stdio: ["ignore", "ignore", stderr, "ipc"], detached: true });
  watch(child);
  const ended = new Promise((resolve) => child.once("exit", resolve));
  const address = await Promise.race([
    new Promise((resolve) => child.once("message", resolve)),
    ended.then((code) => Promise.reject(new Error(`${module} ended with code ${code}`))),
  ]);
  return {
    address,
    async stop() {
      child.disconnect();
      const timer = setTimeout(() => child.kill("SIGKILL"), 5_000);
      await ended;
      clearTimeout(timer);
    },
  };
}
