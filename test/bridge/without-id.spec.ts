import { createConnection } from "node:net";
import { expect, it, onTestFinished, vi } from "vitest";
import { WebSocket } from "ws";
import { connect } from "../../src/api/index.js";
import { bridge, filterTools, limitRate } from "../../src/bridge/index.js";
import { Ledger } from "./support.js";

const hour = 3_600_000;
const clientInfo = { name: "raw", version: "0" };
const text = (message: object): string => JSON.stringify({ jsonrpc: "2.0", ...message });
const opening = [
  { id: "open", method: "initialize", params: { protocolVersion: "2025-03-26", capabilities: {}, clientInfo } },
  { method: "notifications/initialized" },
];
/** What only a request may ask for, without an id, alone and in a batch; then what is a notification. */
const sent = (wire: string): string[] => [
  ...["initialize", "ping", "tools/call", "tools/list", "resources/read", "completion/complete", "tasks/cancel"].map((method) =>
    text({ method, params: { name: "echo", arguments: { text: wire }, uri: "a:b" } }),
  ),
  `[${text({ method: "tools/call", params: { name: "crash" } })}]`,
  text({ method: `notifications/${wire}` }),
];

async function overLines(port: string): Promise<void> {
  const socket = createConnection(Number(port), "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  const opened = new Promise((resolve) => socket.once("data", resolve));
  socket.write(`${text(opening[0] as object)}\n`);
  await opened;
  socket.write(`${[text(opening[1] as object), ...sent("lines")].join("\n")}\n`);
}

async function overWebSocket(port: string): Promise<void> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/ws`, "mcp");
  onTestFinished(() => socket.terminate());
  await new Promise((resolve) => socket.once("open", resolve));
  const opened = new Promise((resolve) => socket.once("message", resolve));
  socket.send(text(opening[0] as object));
  await opened;
  for (const each of [text(opening[1] as object), ...sent("ws")]) socket.send(each);
}

async function overHttp(port: string): Promise<void> {
  let session: Record<string, string> = {};
  const post = (body: string): Promise<Response> =>
    fetch(`http://127.0.0.1:${port}/mcp`, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...session },
      body,
    });
  const opened = await post(text(opening[0] as object));
  await opened.text();
  session = { "mcp-session-id": String(opened.headers.get("mcp-session-id")) };
  for (const each of [text(opening[1] as object), ...sent("http")]) expect((await post(each)).status).toBe(202);
}

it("keeps a request without an id from the server, whatever it is for and whatever wire it comes on", async () => {
  const ledger = new Ledger();
  const faults: string[] = [];
  await using made = await bridge({
    listen: ["any://127.0.0.1:0"],
    to: ledger.command,
    onStderr: () => {},
    onFault: ({ message }) => faults.push(message),
  });
  const [, port = ""] = /:(\d+)/.exec(String(made.listeners[0]?.address)) ?? [];
  await Promise.all([overLines(port), overWebSocket(port), overHttp(port)]);
  await using client = await connect(`grpc://127.0.0.1:${port}`);
  await client.notify("tools/call", { name: "crash" });
  await client.notify("notifications/grpc");
  const wires = ["lines", "ws", "http", "grpc"];
  await vi.waitFor(() => expect(ledger.lines.map((line) => line.split("/").at(-1))).toEqual(expect.arrayContaining(wires)));
  const [pid] = ledger.pids;
  // The bridge's own session, and what is a notification.
  const heard = ledger
    .of(pid)
    .filter((line) => !/^(start|client anywire|initialize|server\/discover|notifications\/initialized)/.test(line));
  expect(heard.sort()).toEqual(wires.map((wire) => `notifications/${wire}`).sort());
  expect(faults).toContain("a request without an id: tools/call");
});

it("counts notifications among what a client may send", async () => {
  const ledger = new Ledger();
  await using made = await bridge({
    listen: [{ address: "tcp://127.0.0.1:0" }],
    to: ledger.command,
    layers: [limitRate({ perClient: { calls: 3, ms: hour } }), filterTools({ deny: ["crash"] })],
    onStderr: () => {},
    onFault: () => {},
  });
  const [, port = ""] = /:(\d+)/.exec(String(made.listeners[0]?.address)) ?? [];
  const socket = createConnection(Number(port), "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  let answers = "";
  socket.on("data", (data) => {
    answers += String(data);
  });
  const messages: object[] = [
    ...opening,
    ...Array.from({ length: 50 }, () => ({ method: "notifications/again" })),
    { id: 1, method: "tools/list" },
  ];
  socket.write(`${messages.map(text).join("\n")}\n`);
  await vi.waitFor(() => expect(answers).toMatch(/"id":1,"error":\{.*"clientRate"/));
  // To open the session took one.
  expect(ledger.count("notifications/again")).toBe(2);
});
