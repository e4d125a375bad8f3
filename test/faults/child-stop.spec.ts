import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test, vi } from "vitest";
import { startChild } from "../../src/io/index.js";
import { childLink } from "../../src/wires/stdio/index.js";
import { alive, figure, fixture, fixturePath, messages, note, patience } from "../fixtures/children/index.js";

const run = promisify(execFile);

test("a child that ends with its stdin is not signalled", async () => {
  const link = await childLink(fixture("echo.mjs"));
  const since = performance.now();
  await Promise.all([link.close(), link.close(), link.child.stop()]);
  figure("close to the end of the child", since);
  expect(await link.child.exited).toEqual({ code: 0, signal: null });
});

test("a child that ignores its stdin and TERM is killed", async () => {
  const stderr: string[] = [];
  const link = await childLink(fixture("stubborn.mjs"), { graceMs: 200, onStderr: (line) => stderr.push(line) });
  await note(messages(link));
  const since = performance.now();
  await link.close();
  figure("close of a child that ignores TERM (2 x 200 ms grace)", since);
  expect(await link.child.exited).toEqual({ code: null, signal: "SIGKILL" });
  expect(stderr).toEqual(["EOF", "TERM"]);
});

test("a stop that has no time hurries one that has", async () => {
  const link = await childLink(fixture("deaf.mjs"), { graceMs: 25_000 });
  await note(messages(link));
  const gentle = link.child.stop();
  await link.child.stop({ now: true });
  await gentle;
  expect(await link.child.exited).toEqual({ code: null, signal: "SIGTERM" });
});

test("what a child started goes with it, also when it exits by itself", async () => {
  for (const end of ["stop", "kill"] as const) {
    const link = await childLink(fixture("family.mjs"));
    const pid = (await note(messages(link)))["pid"] as number;
    expect(alive(pid)).toBe(true);
    const since = performance.now();
    if (end === "kill") process.kill(link.child.pid, "SIGKILL");
    else await link.close();
    await link.child.exited;
    await vi.waitFor(() => expect(alive(pid)).toBe(false), patience);
    figure(`${end} to the end of the grandchild`, since);
    await link.close();
  }
});

test.for(["exit", "throw"])("a parent that ends by %s leaves no child", async (way) => {
  const { stdout } = await run(process.execPath, [fixturePath("parent.mjs"), way, process.execPath, fixturePath("stubborn.mjs")]).catch(
    (failed: { stdout: string }) => failed,
  );
  const since = performance.now();
  const pid = Number(stdout);
  expect(pid).toBeGreaterThan(0);
  await vi.waitFor(() => expect(alive(pid)).toBe(false), patience);
  figure(`parent's ${way} to the end of the child`, since);
});

test("the exit hook is there only while children are", async () => {
  const before = process.listenerCount("exit");
  const children = await Promise.all([1, 2, 3].map(() => startChild(fixture("echo.mjs"))));
  expect(process.listenerCount("exit")).toBe(before + 1);
  await Promise.all(children.map((child) => child.stop()));
  expect(process.listenerCount("exit")).toBe(before);
});
