import { spawn } from "node:child_process";
import { expect, test, vi } from "vitest";
import { fixture, fixturePath, messages, patience, request } from "../../test/fixtures/children/index.js";
import { childLink } from "./child-link.js";

const printed = ["log", "info", "debug", "{ dir: 1 }"];

test("a listener answers on stdout alone, prints on stderr and ends with its stdin", async () => {
  const stderr: string[] = [];
  const link = await childLink(fixture("listener.mjs"), { graceMs: 20_000, onStderr: (line) => stderr.push(line) });
  const incoming = messages(link);
  for (let id = 0; id < 10; id++) {
    await link.send(request(id, { text: `ü${id}` }));
    expect((await incoming.next()).value).toEqual({ kind: "result", id, value: { text: `ü${id}` } });
  }
  await link.close();
  expect(await link.child.exited).toEqual({ code: 0, signal: null });
  expect(stderr).toEqual(expect.arrayContaining(printed));
  expect(stderr.at(-1)).toBe("ended");
});

test("a listener that closes its link gets the console back and does not stay alive, though stdin is open", async () => {
  const listener = spawn(process.execPath, [fixturePath("listener.mjs")], { stdio: ["pipe", "pipe", "ignore"] });
  let stdout = "";
  listener.stdout.on("data", (chunk: Buffer) => {
    stdout += chunk;
  });
  listener.stdin.write(`${JSON.stringify(request(1, { n: 1 }))}\n${JSON.stringify(request(2, {}, "close"))}\n`);
  const [code] = await new Promise<unknown[]>((resolve) => listener.once("close", (...how) => resolve(how)));
  expect(code).toBe(0);
  expect(stdout).toBe('{"jsonrpc":"2.0","id":1,"result":{"n":1}}\nrestored\n');
  listener.stdin.destroy();
});

test("a listener whose stdout nobody reads any more ends its link with a fault and lives", async () => {
  const listener = spawn(process.execPath, [fixturePath("listener.mjs")], { stdio: ["pipe", "pipe", "pipe"] });
  let stderr = "";
  listener.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk;
  });
  await vi.waitFor(() => expect(stderr).toContain("table"), patience);
  listener.stdout.destroy();
  listener.stdin.write(`${JSON.stringify(request(1))}\n`);
  const [code] = await new Promise<unknown[]>((resolve) => listener.once("close", (...how) => resolve(how)));
  expect(code).toBe(0);
  expect(stderr).toContain("fault unavailable broken-pipe");
  listener.stdin.destroy();
});

test("what is not a message is told apart, and half a line at the end is none", async () => {
  const listener = spawn(process.execPath, [fixturePath("listener.mjs")], { stdio: ["pipe", "pipe", "pipe"] });
  let stderr = "";
  listener.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk;
  });
  let stdout = "";
  listener.stdout.on("data", (chunk: Buffer) => {
    stdout += chunk;
  });
  listener.stdin.end(`nonsense\n${JSON.stringify(request(1))}\n{"jsonrpc":"2.0","id":2,"method":"echo"`);
  await new Promise((resolve) => listener.once("close", resolve));
  expect(stdout).toBe('{"jsonrpc":"2.0","id":1,"result":{}}\n');
  expect(stderr.split("\n").slice(-4)).toEqual(["bad parse", "bad parse", "ended", ""]);
});
