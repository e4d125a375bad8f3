import { expect, test } from "vitest";
import type { Fault } from "../../src/core/index.js";
import { childLink } from "../../src/wires/stdio/index.js";
import { alive, figure, fixture, messages, note, request } from "../fixtures/children/index.js";

test("a child that is killed in the middle of a call ends the link with how it died", async () => {
  const link = await childLink(fixture("echo.mjs"));
  const incoming = messages(link);
  await link.send(request(1, { n: 1 }));
  expect((await incoming.next()).value).toMatchObject({ kind: "result", id: 1, value: { n: 1 } });
  await link.send(request(2, {}, "hang"));
  const since = performance.now();
  process.kill(link.child.pid, "SIGKILL");
  await expect(incoming.next()).rejects.toMatchObject({
    code: "unavailable",
    message: "the server was killed by SIGKILL",
    data: { reason: "exited", code: null, signal: "SIGKILL" },
  });
  figure("kill -9 to the fault", since);
  expect(performance.now() - since).toBeLessThan(250 * 20);
  await expect(link.send(request(3))).rejects.toMatchObject({ code: "unavailable" });
  await link.close();
});

test("a child that exits in the middle of a line delivers its whole messages and nothing of the rest", async () => {
  const since = performance.now();
  const link = await childLink(fixture("partial.mjs"));
  const seen: unknown[] = [];
  const fault = await (async () => {
    for await (const batch of link.incoming) seen.push(...batch);
  })().catch((error: Fault) => error);
  figure("start to the fault of a half line", since);
  expect(seen).toMatchObject([
    { kind: "notification", params: { n: 1 } },
    { kind: "notification", params: { n: 2 } },
    { kind: "bad", fault: { code: "parse" } },
  ]);
  expect(fault).toMatchObject({
    code: "unavailable",
    message: "the server exited with code 3",
    data: { reason: "exited", code: 3, signal: null },
  });
  await link.close();
});

test("all that a child wrote before it exited comes, to a reader that starts late", async () => {
  const script = `
    const line = (n) => JSON.stringify({ jsonrpc: "2.0", method: "note", params: { n, text: "x".repeat(20) } });
    process.stdout.write(Array.from({ length: 1500 }, (_, n) => line(n) + "\\n").join(""));`;
  const link = await childLink({ command: process.execPath, args: ["-e", script] });
  await link.child.exited;
  const seen: unknown[] = [];
  await expect(
    (async () => {
      for await (const message of messages(link)) seen.push(message);
    })(),
  ).rejects.toMatchObject({ message: "the server exited with code 0" });
  expect(seen).toHaveLength(1500);
  expect(seen.at(-1)).toMatchObject({ params: { n: 1499 } });
});

test("a child that closes its stdout is dead: TERM, then KILL", async () => {
  const graceMs = 300;
  const stderr: string[] = [];
  const link = await childLink(fixture("mute.mjs"), { graceMs, onStderr: (line) => stderr.push(line) });
  const incoming = messages(link);
  const { pid } = await note(incoming);
  const since = performance.now();
  await expect(incoming.next()).rejects.toMatchObject({ code: "unavailable", data: { reason: "stdout-closed" } });
  figure("stdout closed to the fault", since);
  expect(await link.child.exited).toEqual({ code: null, signal: "SIGKILL" });
  figure(`stdout closed to the end of the child (grace ${graceMs} ms)`, since);
  expect(performance.now() - since).toBeLessThan((graceMs + 1000) * 20);
  expect(alive(pid as number)).toBe(false);
  await link.close();
  expect(stderr).toEqual(["TERM"]);
});

test("an exit is told from a closed stdout, and a link outlives neither", async () => {
  const link = await childLink({ command: process.execPath, args: ["-e", "process.exitCode = 7"] });
  await expect(messages(link).next()).rejects.toMatchObject({ message: "the server exited with code 7" });
  await expect(link.send(request(1))).rejects.toMatchObject({ code: "unavailable" });
});

test("a child that closes its stdin and lives on is stopped", async () => {
  const script = `
    require("fs").closeSync(0);
    setInterval(() => {}, 60_000);
    console.log('{"jsonrpc":"2.0","method":"note","params":{}}')`;
  const link = await childLink({ command: process.execPath, args: ["-e", script] });
  const incoming = messages(link);
  await note(incoming);
  const since = performance.now();
  await link.send(request(1));
  await expect(incoming.next()).rejects.toMatchObject({ code: "unavailable", data: { reason: "broken-pipe" } });
  expect(await link.child.exited).toEqual({ code: null, signal: "SIGTERM" });
  figure("broken pipe to the end of the child", since);
  await expect(link.send(request(2))).rejects.toMatchObject({ data: { reason: "broken-pipe" } });
});
