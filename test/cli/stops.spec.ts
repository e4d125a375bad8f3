import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { anywire, demo, fixture, isAlive, lines, run, scratch, script, start, until } from "./support.js";

/** The demo with a record of its pid and of the calls that were cancelled. */
function recorded(): { readonly server: readonly string[]; record(): string[]; pid(): number } {
  const file = join(scratch(), "record");
  const record = (): string[] => lines(readFileSync(file, "utf8"));
  return { server: ["--", process.execPath, fixture("recorded.mjs"), file], record, pid: () => Number(record()[0]?.slice(4)) };
}

/** Ends neither when its stdin does nor on TERM. */
const stubborn = `
  process.on("SIGTERM", () => console.error("TERM"));
  process.stdin.on("end", () => console.error("EOF")).resume();
  setInterval(() => {}, 60_000);
  console.error("up " + process.pid);
`;

describe("a command that is stopped", () => {
  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const)("by %s: cancels its call, stops the server, exits with %i", async (signal, code) => {
    const { server, record, pid } = recorded();
    const running = start(process.execPath, [anywire, "call", "count", "to=100000", "ms=10", "--events", ...server]);
    await running.shows('{"progress"');
    running.child.kill(signal);
    const { code: exit, stderr } = await running.ended;
    expect([exit, stderr]).toEqual([code, ""]);
    expect(record()).toContain("cancelled count");
    expect(isAlive(pid())).toBe(false);
  });

  it("twice: exits at once and takes even a stubborn server along", async () => {
    const running = start(process.execPath, [anywire, "ping", "-v", ...script(stubborn)]);
    await running.shows(/server\| up \d+/);
    running.child.kill("SIGINT");
    await running.shows("server| EOF");
    running.child.kill("SIGINT");
    const { code, stderr } = await running.ended;
    expect(code).toBe(130);
    await until(() => !isAlive(Number(/up (\d+)/.exec(stderr)?.[1])));
  });

  it("while nobody reads its output", async () => {
    const { server, pid } = recorded();
    const running = start(process.execPath, [anywire, "read", "demo://generated/1gb", "-v", ...server]);
    running.child.stdout.pause();
    await running.shows(/← #\d+ chunk \d+ kB/);
    running.child.kill("SIGINT");
    running.child.stdout.resume();
    expect((await running.ended).code).toBe(130);
    expect(isAlive(pid())).toBe(false);
  });

  it("by a reader that has had enough: quietly", async () => {
    const { server, pid } = recorded();
    const running = start(process.execPath, [anywire, "read", "demo://generated/1gb", ...server]);
    running.child.stdout.once("data", () => running.child.stdout.destroy());
    expect(await running.ended).toMatchObject({ code: 0, stderr: "" });
    await until(() => !isAlive(pid()));
  });

  it("by a full disk: says so", async () => {
    const running = start("sh", ["-c", `"$0" "$@" > /dev/full`, process.execPath, anywire, "tools", ...demo]);
    expect(await running.ended).toEqual({ code: 1, stdout: "", stderr: "anywire: the output cannot be written (ENOSPC)\n" });
  });

  it("by its timeout: in a call, in a watch, and before there is a connection", async () => {
    const { server, record, pid } = recorded();
    const late = await run(["call", "count", "to=100000", "--timeout", "1s", ...server]);
    expect(late).toEqual({ code: 5, stdout: "", stderr: "anywire: timed out: the deadline passed before the call ended\n" });
    expect(record()).toContain("cancelled count");
    expect(isAlive(pid())).toBe(false);
    expect((await run(["watch", "demo://about", "--timeout", "500ms", ...demo])).code).toBe(5);
    const mute = await run(["tools", "--timeout", "300ms", ...script("process.stdin.resume()")]);
    expect(mute).toEqual({
      code: 5,
      stdout: "",
      stderr: "anywire: timed out: the server did not finish the handshake within 300 ms\n",
    });
  });
});
