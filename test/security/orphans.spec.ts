import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { connect } from "../../src/api/index.js";
import { alive, figure, fixture, fixturePath, patience } from "../fixtures/children/index.js";
import { children, nobodyLeft } from "../fixtures/processes.js";

/** Starts the program that uses the library; resolves when it is connected, with the pids of what runs below it. */
async function program(way: string, command: readonly string[]): Promise<{ child: ReturnType<typeof spawn>; pids: number[] }> {
  const child = spawn(process.execPath, [fixturePath("program.mjs"), way, ...command], { stdio: ["ignore", "pipe", "ignore"] });
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (said += text));
  await vi.waitFor(() => expect(said).toMatch(/pids .*\n(?:.*\n)*connected/), patience);
  const pids =
    /pids ([\d ]+)/
      .exec(said)?.[1]
      ?.split(" ")
      .map(Number)
      .filter((pid) => pid !== child.pid) ?? [];
  onTestFinished(() => {
    for (const pid of [...pids, child.pid ?? 0]) if (pid > 0 && alive(pid)) process.kill(pid, "SIGKILL");
  });
  return { child, pids };
}

const server = [process.execPath, fixturePath("lingering.mjs")];
const signals = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGKILL"] as const;

describe.skipIf(process.platform === "win32")("a program that does not close what it started leaves nothing behind", () => {
  it.each(signals)("when it is ended by %s", async (signal) => {
    // A shell between them, as with npx: the server is a grandchild, and what it starts a step further down.
    for (const command of [server, ["/bin/sh", "-c", `"$0" "$@"; true`, ...server]]) {
      const { child, pids } = await program("wait", command);
      expect(pids.length).toBe(command === server ? 2 : 3);
      expect(pids.every(alive)).toBe(true);
      const since = performance.now();
      child.kill(signal);
      expect(await once(child, "exit")).toEqual([null, signal]);
      await vi.waitFor(() => expect(pids.filter(alive)).toEqual([]), patience);
      figure(`${signal} to the end of a server that ignores TERM`, since);
    }
  });

  it.each(["exit", "throw", "abort"])("when it ends by %s", async (way) => {
    const { child, pids } = await program(way, server);
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    await vi.waitFor(() => expect(pids.filter(alive)).toEqual([]), patience);
  });

  it("and it has one process more while it has servers, however many, and none afterwards", async () => {
    const before = children();
    const clients = await Promise.all([1, 2, 3].map(() => connect(fixture("lingering.mjs"), { onStderr: () => {} })));
    const during = children();
    await Promise.all(clients.map((client) => client.close()));
    expect(during.length - before.length).toBe(clients.length + 1);
    await nobodyLeft();
  });
});
