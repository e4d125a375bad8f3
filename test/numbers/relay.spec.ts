import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { type Connection, type Listener, serve, wireFor } from "../../src/api/index.js";
import { nobodyLeft } from "../fixtures/processes.js";
import { readJson } from "../support/canonical.js";

const server = fileURLToPath(new URL("raw-server.mjs", import.meta.url));
const relay = fileURLToPath(new URL("relay.mjs", import.meta.url));
const odd = '{"big":1234567890123456789,"over":[1e400,-1e309],"zero":-0,"near":9007199254740993,"none":null,"half":0.5}';
type Members = { readonly [name: string]: unknown };

/** What a raw client says, and what it heard: texts. */
interface Client {
  say(text: string): void;
  /** The first message, of those heard or still to come, whose text has this in it. */
  hear(part: string): Promise<string>;
}

function hearing(): Pick<Client, "hear"> & { take(text: string): void } {
  const heard: string[] = [];
  const waiting = new Set<() => void>();
  return {
    take(text) {
      heard.push(text);
      for (const wake of waiting) wake();
      waiting.clear();
    },
    async hear(part) {
      for (;;) {
        const found = heard.find((text) => text.includes(part));
        if (found !== undefined) return found;
        await new Promise<void>((resolve) => waiting.add(resolve));
      }
    },
  };
}

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});
afterAll(nobodyLeft);

/** A raw client on the standard input and output of a relay in a process of its own. */
function onStdio(hops: readonly object[]): Client {
  const child = spawn(process.execPath, [relay, JSON.stringify(hops), server, odd], { stdio: ["pipe", "pipe", "inherit"] });
  const { take, hear } = hearing();
  createInterface({ input: child.stdout }).on("line", take);
  closing.push(async () => {
    const exited = new Promise((resolve) => child.once("close", resolve));
    child.stdin.end();
    await exited;
  });
  return { say: (text) => void child.stdin.write(`${text}\n`), hear };
}

async function relayed(address: string): Promise<string> {
  const command = { command: process.execPath, args: [server, odd] };
  const back: Connection = await (await wireFor(command)).dial(command, { era: "legacy" });
  const front: Listener = await serve(back, address);
  closing.push(
    () => back.close(),
    () => front.close(),
  );
  return front.address as string;
}

async function onWebSocket(): Promise<Client> {
  const socket = new WebSocket(await relayed("ws://127.0.0.1:0"), "mcp");
  const { take, hear } = hearing();
  socket.on("message", (data) => take(String(data)));
  await new Promise((resolve) => socket.once("open", resolve));
  closing.push(() => socket.terminate());
  return { say: (text) => socket.send(text), hear };
}

/** Every message is a POST, and what comes back for it is heard. */
async function onHttp(): Promise<Client> {
  const url = await relayed("http://127.0.0.1:0/mcp");
  const { take, hear } = hearing();
  let session: Promise<string | undefined> | undefined;
  const post = async (text: string): Promise<string | undefined> => {
    const id = await session;
    const headers = {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2025-11-25",
    };
    const response = await fetch(url, {
      method: "POST",
      body: text,
      headers: id === undefined ? headers : { ...headers, "mcp-session-id": id },
    });
    const body = await response.text();
    for (const line of body.split("\n")) if (line.includes("{")) take(line.replace(/^data: /, ""));
    return response.headers.get("mcp-session-id") ?? undefined;
  };
  return {
    say(text) {
      const posted = post(text);
      session ??= posted;
    },
    hear,
  };
}

/** Speaks to a server as a legacy client. What it says and hears is checked as text. */
async function keepsNumbers(client: Client): Promise<void> {
  client.say(
    '{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"raw","version":"0"}}}',
  );
  await client.hear('"init"');
  client.say('{"jsonrpc":"2.0","method":"notifications/initialized"}');
  client.say('{"jsonrpc":"2.0","method":"notifications/mine/null","params":null}');
  client.say('{"jsonrpc":"2.0","method":"notifications/mine/none"}');
  client.say(`{"jsonrpc":"2.0","method":"notifications/mine/odd","params":{"n":${odd}},"vendor":${odd}}`);
  client.say(
    `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":{"n":${odd}},"_meta":{"progressToken":98765432109876543210}},"vendor":${odd}}`,
  );
  const expected = readJson(odd);
  const { result, ...envelope } = readJson(await client.hear('"id":7')) as { result: Members };
  expect(envelope).toEqual({ jsonrpc: "2.0", id: 7, params: expected, beside: readJson("-0") });
  expect(result["structuredContent"]).toEqual({ n: expected });

  const lines = (result["heard"] as readonly string[]).map((line) => readJson(line) as Members);
  const said = (method: string): Members | undefined => lines.find((line) => line["method"] === method);
  expect(said("tools/call")).toMatchObject({ params: { name: "echo", arguments: { n: expected } }, vendor: expected });
  const mine = ["null", "none", "odd"].map((name) => said(`notifications/mine/${name}`));
  expect(mine[0]).toEqual({ jsonrpc: "2.0", method: "notifications/mine/null", params: null });
  expect(mine[1]).toEqual({ jsonrpc: "2.0", method: "notifications/mine/none" });
  expect(mine[2]).toEqual({ jsonrpc: "2.0", method: "notifications/mine/odd", params: { n: expected }, vendor: expected });

  expect(readJson(await client.hear("notifications/progress"))).toMatchObject({
    params: { progressToken: readJson("98765432109876543210"), progress: readJson("1234567890123456789"), total: readJson("1e400") },
  });
  client.say('{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"fail","arguments":{}}}');
  expect(readJson(await client.hear('"id":8'))).toEqual({
    jsonrpc: "2.0",
    id: 8,
    error: { code: -4, message: "no", data: expected, more: expected, data2: null },
    beside: expected,
  });
  client.say('{"jsonrpc":"2.0","id":9,"method":"tools/list"}');
  expect(readJson(await client.hear('"id":9'))).toMatchObject({ result: { tools: [{ inputSchema: { vendor: expected } }] } });
  client.say('{"jsonrpc":"2.0","id":10,"method":"resources/read","params":{"uri":"test://odd"}}');
  expect(readJson(await client.hear('"id":10'))).toMatchObject({
    result: { contents: [{ text: "x", vendor: expected }], vendor: expected },
  });
}

/** What a server says outside its answers. */
async function keepsNotes(client: Client): Promise<void> {
  const notes = await Promise.all(["null", "none", "odd"].map((name) => client.hear(`notifications/vendor/${name}`)));
  expect(notes.map(readJson)).toEqual([
    { jsonrpc: "2.0", method: "notifications/vendor/null", params: null },
    { jsonrpc: "2.0", method: "notifications/vendor/none" },
    { jsonrpc: "2.0", method: "notifications/vendor/odd", params: { n: readJson(odd) }, beside: readJson(odd) },
  ]);
}

describe("a raw client and a raw server with relays between them change no number and lose no member", () => {
  const chains: Record<string, readonly object[]> = {
    stdio: [],
    "stdio, memory": [{ listen: "memory:numbers" }],
    "stdio, http": [{ listen: "http://127.0.0.1:0/mcp" }],
    "stdio, http modern": [{ listen: "http://127.0.0.1:0/mcp", era: "modern" }],
    "stdio, sse": [{ listen: "sse+http://127.0.0.1:0" }],
    "stdio, websocket": [{ listen: "ws://127.0.0.1:0" }],
    "stdio, grpc": [{ listen: "grpc://127.0.0.1:0" }],
    "stdio, tunnel": [{ listen: "tunnel+grpc://127.0.0.1:0" }],
    "stdio, grpc, websocket, tunnel": [
      { listen: "grpc://127.0.0.1:0" },
      { listen: "ws://127.0.0.1:0" },
      { listen: "tunnel+grpc://127.0.0.1:0" },
    ],
  };
  for (const [name, hops] of Object.entries(chains)) {
    it(name, async () => {
      const client = onStdio(hops);
      await keepsNumbers(client);
      await keepsNotes(client);
    });
  }

  it("websocket", async () => {
    const client = await onWebSocket();
    await keepsNumbers(client);
    await keepsNotes(client);
  });

  it("http", async () => keepsNumbers(await onHttp()));
});
