import { fileURLToPath } from "node:url";
import { expect, it, vi } from "vitest";
import { type Command, connect } from "../../src/api/index.js";
import { type Bridge, bridge } from "../../src/bridge/index.js";
import { Ledger } from "./support.js";

const MIB = 1024 ** 2;
const flood = (...args: readonly string[]): Command => ({
  command: process.execPath,
  args: [fileURLToPath(new URL("fixtures/flood.mjs", import.meta.url)), ...args],
});
const addressOf = ({ listeners }: Bridge): string => String(listeners[0]?.address);

/** A bridge to another server in the same process, which has to answer meanwhile. */
async function neighbour(): Promise<Bridge & { ask(): Promise<unknown> }> {
  const made = await bridge({ listen: ["http://127.0.0.1:0"], to: new Ledger().command, onStderr: () => {} });
  const client = await connect(addressOf(made));
  return { ...made, ask: () => client.callTool("echo", { text: "here" }).then(({ content }) => content[0]) };
}

it("leaves a server that prints what is not a message without an end, and says why; others are served", async () => {
  await using other = await neighbour();
  await using made = await bridge({
    listen: ["http://127.0.0.1:0"],
    to: flood("stdout", "starting up"),
    onStderr: () => {},
    onFault: () => {},
  });
  await using client = await connect(addressOf(made));
  await client.callTool("any", { flood: true }).catch(() => {});
  await vi.waitFor(
    async () => {
      expect(await other.ask()).toEqual({ type: "text", text: "here" });
      expect(made.upstream.lastFault).toMatchObject({ code: "overload", data: { limit: "badMessages" } });
    },
    { timeout: 20_000 },
  );
  expect(made.upstream.lastFault?.message).toBe("the peer sends too much that is not a message");
  // It is started again, and serves until it floods again.
  await vi.waitFor(async () => expect((await client.callTool("any")).content[0]).toMatchObject({ text: "called" }), { timeout: 20_000 });
});

it.each([
  ["lines", []],
  ["text without a newline", ["whole"]],
])("passes on a mebibyte a second of the %s that a server prints on stderr, and its calls are answered meanwhile", async (_what, more) => {
  let bytes = 0;
  let longest = 0;
  let left = false;
  const begun = performance.now();
  await using made = await bridge({
    listen: ["http://127.0.0.1:0"],
    to: flood("stderr", "x".repeat(99), ...more),
    onStderr: (line) => {
      bytes += line.length + 1;
      longest = Math.max(longest, line.length);
      left ||= /^\(\d+ bytes more in that second are left out\)$/.test(line);
    },
  });
  await using client = await connect(addressOf(made));
  await client.callTool("any", { flood: true });
  await vi.waitFor(
    async () => {
      expect((await client.callTool("any")).content[0]).toMatchObject({ text: "called" });
      expect(left).toBe(true);
    },
    { timeout: 20_000 },
  );
  expect(longest).toBeLessThanOrEqual(65_536);
  expect(bytes).toBeLessThan(((performance.now() - begun) / 1000 + 2) * MIB);
});
