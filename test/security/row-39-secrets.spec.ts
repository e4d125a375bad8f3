import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { connect, toFault } from "../../src/api/index.js";
import { run, script } from "../cli/support.js";

const secret = /hunter2|s3cr3t/;

/** Addresses with credentials at which nothing can be reached: by their scheme, their form, or because nobody is there. */
const addresses = [
  "http://me:hunter2@127.0.0.1:1/mcp?access_token=s3cr3t",
  "http://hunter2@127.0.0.1:1/mcp",
  "http://me:hunter2@127.0.0.1:99999/mcp?api_key=s3cr3t",
  "http://me:hunt/hunter2@127.0.0.1:1/mcp",
  "ws://me:hunter2@127.0.0.1:1/mcp?token=s3cr3t",
  "sse+http://me:hunter2@127.0.0.1:1/sse?client_secret=s3cr3t",
  "grpc://me:hunter2@127.0.0.1:1",
  "ftp://me:hunter2@127.0.0.1/?password=s3cr3t",
];

describe("39: credentials in an address", () => {
  it("are not repeated by the errors of the library", async () => {
    for (const address of addresses) {
      const fault = await connect(address, { handshakeMs: 5_000 }).then(
        () => expect.unreachable(),
        (error: unknown) => toFault(error),
      );
      expect([address, fault.message]).toEqual([address, expect.not.stringMatching(secret)]);
    }
  });

  it("are not repeated by the command", async () => {
    const outcomes = await Promise.all(addresses.map((address) => run(["ping", "-vv", "--timeout", "5s", address])));
    for (const [index, { code, stdout, stderr }] of outcomes.entries()) {
      expect([addresses[index], code]).not.toEqual([addresses[index], 0]);
      expect(stderr).toContain("anywire: ");
      expect([addresses[index], stdout + stderr]).toEqual([addresses[index], expect.not.stringMatching(secret)]);
    }
  });

  it("are not repeated where a server redirects to them", async () => {
    const server = createServer((_request, response) =>
      response.writeHead(302, { location: "https://me:hunter2@elsewhere.example/?access_token=s3cr3t&x=1" }).end(),
    );
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const { stderr } = await run(["ping", `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`]);
    expect(stderr).toContain("https://[redacted]@elsewhere.example/?access_token=[redacted]&x=1");
    expect(stderr).not.toMatch(secret);
  });
});

it.each(["http", "sse+http"])("39: credentials do not show where a server on %s refuses them and quotes the request", async (scheme) => {
  const server = createServer(({ method, headers, url }, response) => {
    if (method === "POST") return void response.writeHead(403).end(`refused: ${headers.authorization} for http://localhost${url}`);
    response.writeHead(200, { "content-type": "text/event-stream" }).write("event: endpoint\ndata: /mcp?api_key=s3cr3t\n\n");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const address = `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}/mcp?api_key=s3cr3t`;
  const fault = await connect(address, { headers: { authorization: "Bearer hunter2" } }).then(
    () => expect.unreachable(),
    (error: unknown) => toFault(error),
  );
  expect(fault.message).toContain("HTTP 403: refused: Bearer [redacted] for http://localhost/mcp?api_key=[redacted]");
});

it("39: secrets do not show in the log of messages, whatever holds them", async () => {
  const server = `
    const answers = {
      initialize: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "raw", version: "1" } },
      "tools/list": { tools: [{ name: "login", inputSchema: { type: "object", properties: { credentials: { type: "object", default: { pin: "s3cr3t" } } } } }] },
      "tools/call": { content: [], structuredContent: { session: { accessToken: { parts: ["s3cr3t", { deep: "s3cr3t" }] } } } },
    };
    require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
      const { id, method } = JSON.parse(line);
      if (id === undefined) return;
      const result = answers[method];
      console.log(JSON.stringify({ jsonrpc: "2.0", id, ...(result ? { result } : { error: { code: -32601, message: "no" } }) }));
    });`;
  const { code, stderr } = await run(["call", "login", "-vv", 'credentials={"user":"me","pin":"hunter2"}', ...script(server)]);
  expect(code).toBe(0);
  expect(stderr).toContain('"credentials":"[redacted]"');
  expect(stderr).toContain('"accessToken":"[redacted]"');
  expect(stderr).toContain('"credentials":{"type":"object","default":"[redacted]"}');
  expect(stderr).not.toMatch(secret);
});
