import { expect, it } from "vitest";
import { anywire, start } from "../cli/support.js";
import { type Served, talk, toolCall } from "../support/talk.js";

const addresses: readonly [Served, string][] = [
  ["http", "http://127.0.0.1:0/mcp"],
  ["sse", "sse+http://127.0.0.1:0/sse"],
  ["ws", "ws://127.0.0.1:0/mcp"],
  ["proto", "proto+tcp://127.0.0.1:0"],
  ["tunnel", "tunnel+grpc://127.0.0.1:0"],
  ["grpc", "grpc://127.0.0.1:0"],
];

it.each(addresses)("SIGTERM to a command that listens on %s: calls in flight finish, new ones are refused", async (wire, address) => {
  const running = start(process.execPath, [anywire, "demo", "--listen", address]);
  const at = await new Promise<string>((resolve) => {
    let text = "";
    running.child.stderr.on("data", (chunk) => {
      text += chunk;
      const found = /listens on (\S+);/.exec(text)?.[1];
      if (found !== undefined) resolve(found);
    });
  });
  const N = 5;
  const raw = await talk(at, wire, "legacy");
  const meta = (id: number) => ({ _meta: { progressToken: id } });
  for (let id = 0; id < N; id++) raw.send(toolCall("legacy", id, "count", { to: 6, ms: 50 }, meta(id)));
  while (new Set(raw.heard.flatMap(({ params }) => params?.["progressToken"] ?? [])).size < N)
    await new Promise((resolve) => setTimeout(resolve, 5));
  running.child.kill("SIGTERM");
  await new Promise((resolve) => setTimeout(resolve, 50));
  raw.send(toolCall("legacy", "late", "count", { to: 1 }));
  const answers = await Promise.all(Array.from({ length: N }, (_, id) => raw.answer(id)));
  const lost = answers.filter(({ result }) => result === undefined).length;
  console.log(`${wire}: ${lost} of ${N} calls lost`);
  expect(lost).toBe(0);
  expect((await running.ended).code).toBe(143);
  expect(raw.heard.some(({ id, result }) => id === "late" && result !== undefined)).toBe(false);
  await raw.leave();
});
