import { createConnection } from "node:net";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import { bridge } from "../../src/bridge/index.js";

const fixture = fileURLToPath(new URL("fixtures/malformed.mjs", import.meta.url));

/** What the server says, and what the client gets. */
const answers: readonly (readonly [string, string])[] = [
  ['"error":{"code":-7}', '"error":{"code":-32600,"message":"error must have an integer code and a message"}'],
  ['"error":{"code":"E_FAIL","message":"no"}', '"error":{"code":-32600,"message":"error must have an integer code and a message"}'],
  ['"error":"no"', '"error":{"code":-32600,"message":"error must have an integer code and a message"}'],
  ['"result":[1]', '"error":{"code":-32600,"message":"result must be an object"}'],
  ['"result":null', '"error":{"code":-32600,"message":"result must be an object"}'],
  ['"error":{"code":-7,"message":"","data":null}', '"error":{"code":-7,"message":"","data":null}'],
];

it("answers a call whose answer is no JSON-RPC with what is wrong about it", async () => {
  await using made = await bridge({
    listen: ["tcp://127.0.0.1:0"],
    to: { command: process.execPath, args: [fixture] },
    onStderr: () => {},
    onFault: () => {},
  });
  const [, port = ""] = /:(\d+)/.exec(String(made.listeners[0]?.address)) ?? [];
  const socket = createConnection(Number(port), "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
  const ask = async (id: number, method: string, params: object): Promise<string> => {
    socket.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    return String((await lines.next()).value);
  };
  const clientInfo = { name: "raw", version: "0" };
  expect(await ask(0, "initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo })).toContain('"name":"raw"');
  socket.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  for (const [at, [answer, expected]] of answers.entries()) {
    const got = await ask(at + 1, "tools/call", { name: "any", arguments: { answer } });
    expect(got).toBe(`{"jsonrpc":"2.0","id":${at + 1},${expected}}`);
  }
});
