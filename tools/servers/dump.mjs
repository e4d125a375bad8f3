import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

/** What the command declares: a server may list other tools to a client that can do other things. */
const hello = {
  protocolVersion: "2025-11-25",
  capabilities: { elicitation: { form: {}, url: {} } },
  clientInfo: { name: "dump", version: "1.0.0" },
};

/** The tools of a server by JSON-RPC lines alone, with no code of Anywire; within `ms`, and nothing is left running. */
export async function dump(command, args, { ms, ...options }) {
  const child = spawn(command, args, { ...options, stdio: ["pipe", "pipe", "ignore"], detached: true });
  const ended = new Promise((resolve) => child.once("close", resolve).once("error", resolve));
  const timer = setTimeout(() => endGroup(child.pid), ms);
  child.stdin.on("error", () => {}); // A server that ends early shows as a missing answer.
  const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const tools = [];
  try {
    send({ id: 0, method: "initialize", params: hello });
    for await (const line of createInterface({ input: child.stdout })) {
      if (!line.startsWith("{")) continue; // Some print a greeting.
      const { id, method, result, error } = JSON.parse(line);
      if (method !== undefined) {
        if (id !== undefined) send({ id, error: { code: -32601, message: "Method not found" } });
        continue;
      }
      if (error !== undefined) throw new Error(error.message);
      if (id === 0) send({ method: "notifications/initialized" });
      else tools.push(...result.tools);
      if (id > 0 && result.nextCursor === undefined) return tools;
      send({ id: id + 1, method: "tools/list", params: { cursor: result.nextCursor } });
    }
    throw new Error("ended, or was ended, before its last page");
  } finally {
    clearTimeout(timer);
    endGroup(child.pid);
    await ended;
  }
}

function endGroup(pid) {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It has ended by itself, or never began.
  }
}
