import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

let server: ChildProcess;
let answers: Map<number, (message: Answer) => void>;
let next: number;

interface Answer {
  readonly result?: { readonly content: readonly { readonly text: string }[]; readonly isError?: boolean };
  readonly error?: { readonly code: number; readonly message: string };
}

beforeEach(async () => {
  answers = new Map();
  next = 1;
  server = spawn(process.execPath, [join(import.meta.dirname, "../fixtures/costly-schemas.mjs")], { stdio: ["pipe", "pipe", "inherit"] });
  if (server.stdout === null) throw new Error("no pipe");
  createInterface({ input: server.stdout }).on("line", (line) => {
    const { id, ...answer } = JSON.parse(line) as Answer & { id: number };
    answers.get(id)?.(answer);
  });
  await ask("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } });
  server.stdin?.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
});
// In a process of its own: one that hangs cannot tell that it does.
afterEach(() => void server.kill("SIGKILL"));

function ask(method: string, params: object = {}): Promise<Answer> {
  const id = next++;
  const answer = new Promise<Answer>((resolve) => answers.set(id, resolve));
  server.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
  return answer;
}

/** What a call comes to, and how long it and a ping took that was sent right behind it. */
async function call(name: string, args: object): Promise<{ text: string | undefined; isError: boolean; ms: number }> {
  const since = performance.now();
  const answer = ask("tools/call", { name, arguments: args });
  await ask("ping");
  const { result, error } = await answer;
  const ms = performance.now() - since;
  return { text: result?.content[0]?.text ?? error?.message, isError: result?.isError === true || error !== undefined, ms };
}

const a40 = `${"a".repeat(40)}!`;
let deep: unknown = 1;
for (let level = 0; level < 60; level++) deep = { next: deep };
const objects = Array.from({ length: 20_000 }, (_, index) => ({ index }));

const costly: readonly (readonly [name: string, args: object, problem: RegExp])[] = [
  ["pattern", { text: a40 }, /^invalid arguments\narguments\.text: must match pattern/],
  ["optional", { text: "a".repeat(59) }, /must match pattern/],
  ["looking", { text: a40 }, /must match pattern/],
  ["names", { [`${"a".repeat(60)}!`]: 1 }, /must match pattern|property name/],
  ["members", { [a40]: 1 }, /must NOT have additional properties/],
  ["draft07", { text: a40 }, /must match pattern/],
  ["output", { text: a40 }, /^the tool broke its output schema\n.*must match pattern/],
  ["pattern", { text: `${"a".repeat(2_000_000)}!` }, /^invalid arguments\narguments: too costly to check against the schema/],
  ["anyOf", { tree: deep }, /^invalid arguments\narguments: too costly to check against the schema/],
  ["chain", { value: 1 }, /^invalid arguments\narguments: too costly to check against the schema/],
  ["unique", { list: objects }, /^invalid arguments\narguments: too costly to check against the schema/],
];

describe("33: arguments that are costly to check", () => {
  it.each(costly)("are refused in time: %s", { timeout: 20_000 }, async (name, args, problem) => {
    const { text, isError, ms } = await call(name, args);
    expect([text, isError]).toEqual([expect.stringMatching(problem), true]);
    console.log(`${name}: with a ping behind it ${ms.toFixed(0)} ms`);
    expect(ms).toBeLessThan(10_000);
  });

  it("are no others", async () => {
    expect(await call("pattern", { text: "a".repeat(1_000) })).toMatchObject({ text: "valid" });
    expect(await call("optional", { text: "a".repeat(90) })).toMatchObject({ text: "valid" });
    expect(await call("anyOf", { tree: { next: { next: {} } } })).toMatchObject({ text: "valid" });
    expect(await call("unique", { list: objects.slice(0, 1_500) })).toMatchObject({ text: "valid" });
  });

  it("by a pattern that cannot be run in bounded time are refused whatever they are, and told why", async () => {
    const { text, isError } = await call("backreference", { text: "aa" });
    expect(isError).toBe(true);
    expect(text).toContain("cannot be run in bounded time: it refers back to a group");
  });
});

it("33: a URI that many templates could have made is matched in time", { timeout: 20_000 }, async () => {
  for (const uri of [`x:${"a,".repeat(30_000)}`, `x:abcdefgh?${"q=1&".repeat(15_000)}q=1`, `x:${"/".repeat(60_000)}?`]) {
    const since = performance.now();
    const read = ask("resources/read", { uri });
    await ask("ping");
    await read;
    const ms = performance.now() - since;
    console.log(`${uri.slice(0, 8)}…: ${ms.toFixed(0)} ms`);
    expect(ms).toBeLessThan(2_000);
  }
});
