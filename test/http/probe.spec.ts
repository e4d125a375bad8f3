import { createServer as createHttp } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { connect, type JsonObject } from "../../src/api/index.js";

/** A legacy server that answers `server/discover` with a status, and keeps what it was asked. */
async function legacyServer(status: number, body: (id: unknown) => string): Promise<{ url: string; asked: string[] } & AsyncDisposable> {
  const asked: string[] = [];
  const peer = createHttp((request, response) => {
    let text = "";
    request.on("data", (chunk) => {
      text += chunk;
    });
    request.on("end", () => {
      if (request.method !== "POST") return void response.writeHead(405).end();
      const { id, method } = JSON.parse(text) as { id?: number; method: string };
      asked.push(method);
      if (id === undefined) return void response.writeHead(202).end();
      if (method === "server/discover") return void response.writeHead(status, { "content-type": "application/json" }).end(body(id));
      const result: JsonObject = { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: { name: "raw", version: "0" } };
      return void response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ jsonrpc: "2.0", id, result }));
    });
  });
  await new Promise<void>((resolve) => peer.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(peer.address() as AddressInfo).port}/mcp`,
    asked,
    async [Symbol.asyncDispose]() {
      peer.closeAllConnections();
      await new Promise((resolve) => peer.close(resolve));
    },
  };
}

const bodies: readonly (readonly [string, (id: unknown) => string])[] = [
  ["no body", () => ""],
  ["an error", (id) => JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32000, message: "no", data: { why: 1 } } })],
  ["an error without an id", () => JSON.stringify({ jsonrpc: "2.0", id: null, error: { code: -32000, message: "no", data: { why: 1 } } })],
];

for (const [what, body] of bodies) {
  it.each([400, 404, 405, 406, 415, 422])(`a probe answered %i with ${what} means legacy`, async (status) => {
    await using peer = await legacyServer(status, body);
    await using client = await connect(peer.url);
    expect(client.server.era).toBe("legacy");
    expect(peer.asked).toEqual(["server/discover", "initialize", "notifications/initialized"]);
  });

  it.each([
    [401, "unauthenticated"],
    [403, "denied"],
    [429, "overload"],
    [500, undefined],
    [502, undefined],
    [503, undefined],
  ])(`a probe answered %i with ${what} says nothing about the era, and is told as it is`, async (status, code) => {
    await using peer = await legacyServer(status, body);
    const fault = await connect(peer.url).then(
      () => undefined,
      (error: { code: string; rpcCode?: number; data: unknown }) => error,
    );
    expect(peer.asked).toEqual(["server/discover"]);
    if (code !== undefined) expect(fault?.code).toBe(code);
    if (status !== 401 && what !== "no body") expect(fault).toMatchObject({ rpcCode: -32000, message: "no", data: { why: 1 } });
    else expect(fault?.data).toEqual({ status });
  });
}
