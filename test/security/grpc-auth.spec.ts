import { request } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { describe, expect, it } from "vitest";
import { type Listener, type ServeOptions, serve } from "../../src/api/index.js";
import { McpService } from "../../src/codec/gen/mcp/v1/mcp_pb.js";
import { sample } from "../grpc/peers.js";

interface At extends AsyncDisposable {
  readonly url: string;
  readonly calls: readonly string[];
}

async function open(options: ServeOptions = {}): Promise<At> {
  const server = sample();
  const listener: Listener = await serve(server, "grpc://127.0.0.1:0", options);
  return {
    url: listener.address.replace("grpc:", "http:"),
    calls: server.calls,
    [Symbol.asyncDispose]: () => listener.close(),
  };
}

type Protocol = (url: string) => Transport;
const protocols: Record<string, Protocol> = {
  gRPC: (baseUrl) => createGrpcTransport({ baseUrl, idleConnectionTimeoutMs: 50 }),
  Connect: (baseUrl) => createConnectTransport({ baseUrl, httpVersion: "1.1" }),
  "Connect on HTTP/2": (baseUrl) => createConnectTransport({ baseUrl, httpVersion: "2", idleConnectionTimeoutMs: 50 }),
  "gRPC-Web": (baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: "1.1" }),
};

/** The code that a call fails with, undefined if it does not; unary and streaming calls have to agree. */
async function outcome(transport: Transport, headers: Record<string, string>): Promise<ConnectError | undefined> {
  const client = createClient(McpService, transport);
  const failed = (promise: Promise<unknown>): Promise<ConnectError | undefined> =>
    promise.then(
      () => undefined,
      (error) => ConnectError.from(error),
    );
  const unary = await failed(client.callTool({ name: "echo", arguments: {} }, { headers }));
  const stream = async (): Promise<void> => {
    for await (const _update of client.callToolWithProgress({ name: "echo", arguments: {} }, { headers }));
  };
  expect((await failed(stream()))?.code).toBe(unary?.code);
  return unary;
}

const foreign = ["https://evil.example", "http://localhost.evil.example", "http://127.0.0.1.evil.example:8000", "null", "file://"];
const local = ["http://localhost:5173", "http://127.0.0.1", "http://[::1]:3000"];
const hosts = ["evil.example", "evil.example:80", "localhost.evil.example", "169.254.169.254"];

describe.each(Object.entries(protocols))("%s", (_name, transport) => {
  it("1: a foreign Origin is refused and nothing runs", async () => {
    await using at = await open();
    for (const origin of foreign) expect((await outcome(transport(at.url), { origin }))?.code).toBe(Code.PermissionDenied);
    expect(at.calls).toEqual([]);
    for (const origin of local) expect(await outcome(transport(at.url), { origin })).toBeUndefined();
    expect(at.calls.length).toBe(2 * local.length);
  });

  it("4: no token, or none that is valid, is unauthenticated", async () => {
    await using at = await open({ auth: { verify: (token) => (token === "good" ? { id: "ada" } : undefined) } });
    expect((await outcome(transport(at.url), {}))?.code).toBe(Code.Unauthenticated);
    for (const authorization of ["Bearer bad", "Basic good", "good", "Bearer"])
      expect((await outcome(transport(at.url), { authorization }))?.code).toBe(Code.Unauthenticated);
    expect(at.calls).toEqual([]);
    expect(await outcome(transport(at.url), { authorization: "Bearer good" })).toBeUndefined();
  });

  it("8: a missing scope is denied, naming every scope that is needed", async () => {
    const scopes = ["mcp:read", "mcp:write"];
    await using at = await open({ auth: { verify: (token) => ({ id: "ada", scopes: token.split("+") }), scopes } });
    for (const held of ["none", "mcp:read", "mcp:write+other"]) {
      const error = await outcome(transport(at.url), { authorization: `Bearer ${held}` });
      expect(error?.code).toBe(Code.PermissionDenied);
      expect(error?.rawMessage).toContain("mcp:read mcp:write");
    }
    expect(at.calls).toEqual([]);
    expect(await outcome(transport(at.url), { authorization: `Bearer ${scopes.join("+")}` })).toBeUndefined();
  });

  it("verifies each call once, and lets nobody in where that fails", async () => {
    let verified = 0;
    const verify = (token: string): { id: string } => {
      verified++;
      if (token === "broken") throw new Error("no keys today");
      return { id: token };
    };
    await using at = await open({ auth: { verify } });
    expect(await outcome(transport(at.url), { authorization: "Bearer ada" })).toBeUndefined();
    expect(verified).toBe(2);
    expect((await outcome(transport(at.url), { authorization: "Bearer broken" }))?.code).toBe(Code.Unauthenticated);
  });

  it("10: another's session is not found", async () => {
    await using at = await open({ auth: { verify: (token) => ({ id: token }) } });
    const client = createClient(McpService, transport(at.url));
    let session = "";
    await client.initialize(
      { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } },
      { headers: { authorization: "Bearer ada" }, onHeader: (headers) => void (session = headers.get("mcp-session-id") ?? "") },
    );
    const call = (who: string): Promise<unknown> =>
      client.callTool({ name: "echo" }, { headers: { authorization: `Bearer ${who}`, "mcp-session-id": session } });
    await expect(call("bob")).rejects.toMatchObject({ code: Code.NotFound });
    await call("ada");
    expect(at.calls).toEqual(["echo"]);
  });
});

/** A request with any header, also those that a client does not let one set. */
function raw(
  url: string,
  headers: Record<string, string>,
  method = "POST",
): Promise<{ status: number; headers: NodeJS.Dict<string | string[]> }> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, agent: false }, (response) => {
      response.destroy();
      resolve({ status: response.statusCode as number, headers: response.headers });
    });
    sent.on("error", reject);
    sent.end(method === "POST" ? "{}" : "");
  });
}

const ping = "/mcp.v1.McpService/Ping";
const json = { "content-type": "application/json" };

describe("2: a foreign Host on a loopback bind", () => {
  it("is refused over HTTP/1.1, whatever is asked for", async () => {
    await using at = await open();
    for (const host of hosts) {
      for (const type of ["application/json", "application/connect+proto", "application/grpc-web+proto", "text/plain"])
        expect([host, (await raw(at.url + ping, { "content-type": type, host })).status]).toEqual([host, 403]);
      expect((await raw(`${at.url}/grpc.health.v1.Health/Check`, { ...json, host })).status).toBe(403);
      expect((await raw(at.url + ping, { host }, "GET")).status).toBe(403);
      expect((await raw(at.url + ping, { host }, "OPTIONS")).status).toBe(403);
    }
    for (const host of ["localhost", "LOCALHOST:1", "127.0.0.1:99", "[::1]:8000"])
      expect((await raw(at.url + ping, { ...json, host })).status).toBe(200);
  });

  it("is refused over HTTP/2, in either place, to Connect and to gRPC", async () => {
    await using at = await open();
    const session = connectHttp2(at.url);
    const answer = (type: string, headers: Record<string, string>): Promise<string> =>
      new Promise((resolve, reject) => {
        const stream = session.request({ ":method": "POST", ":path": ping, "content-type": type, te: "trailers", ...headers });
        stream.on("response", (got) => resolve(String(got["grpc-status"] ?? got[":status"])));
        stream.on("error", reject);
        stream.resume();
        stream.end(type === "application/json" ? "{}" : Buffer.alloc(5));
      });
    for (const [type, denied, fine] of [
      ["application/json", "403", "200"],
      ["application/grpc", "7", "200"],
    ] as const) {
      expect(await answer(type, { ":authority": "evil.example" })).toBe(denied);
      expect(await answer(type, { ":authority": "localhost" })).toBe(fine);
    }
    expect(await answer("application/json", { ":authority": "localhost", host: "evil.example" })).toBe("403");
    expect(await answer("application/json", { ":authority": "evil.example", host: "localhost" })).toBe("403");
    session.close();
  });
});

describe("a page of another origin", () => {
  it("learns from a preflight what it may send, and sees what it needs of an answer", async () => {
    await using at = await open({ allowedOrigins: ["app.example"] });
    const origin = "https://app.example";
    const before = await raw(at.url + ping, { origin, "access-control-request-method": "POST" }, "OPTIONS");
    expect(before.status).toBe(204);
    expect(before.headers["access-control-allow-origin"]).toBe(origin);
    const allowed = String(before.headers["access-control-allow-headers"]).toLowerCase().split(", ");
    for (const name of ["content-type", "authorization", "connect-protocol-version", "connect-timeout-ms", "x-grpc-web", "x-user-agent"])
      expect(allowed).toContain(name);
    for (const name of ["grpc-timeout", "x-grpc-timeout", "mcp-session-id"]) expect(allowed).toContain(name);
    for (const type of ["application/json", "application/grpc-web+proto", "text/plain"]) {
      const { headers } = await raw(at.url + ping, { "content-type": type, origin });
      expect(headers["access-control-allow-origin"]).toBe(origin);
      const exposed = String(headers["access-control-expose-headers"]).toLowerCase().split(", ");
      for (const name of ["grpc-status", "grpc-message", "grpc-status-details-bin", "mcp-session-id", "mcp-error-code"])
        expect(exposed).toContain(name);
    }
    expect((await raw(at.url + ping, { ...json, origin: "https://evil.example" })).headers["access-control-allow-origin"]).toBeUndefined();
  });
});

describe("4: over HTTP", () => {
  it("a 401 names the metadata, which is served, and comes before the body", async () => {
    const metadata = { resource: "http://127.0.0.1/", authorization_servers: ["https://issuer.example"] };
    await using at = await open({ auth: { verify: () => undefined, metadata } });
    for (const type of ["application/json", "application/connect+proto", "application/grpc-web+proto"]) {
      const answer = await raw(at.url + ping, { "content-type": type });
      expect(answer.status).toBe(401);
      expect(answer.headers["www-authenticate"]).toBe('Bearer resource_metadata="http://127.0.0.1/.well-known/oauth-protected-resource"');
    }
    const found = await fetch(`${at.url}/.well-known/oauth-protected-resource`);
    expect([found.status, await found.json()]).toEqual([200, metadata]);
    // The answer comes although the body that was announced never does.
    expect((await raw(at.url + ping, { ...json, "content-length": "1000000" })).status).toBe(401);
    expect((await raw(`${at.url}/grpc.health.v1.Health/Check`, json)).status).toBe(200);
  });

  it("7: a token in the query is not looked at", async () => {
    const seen: string[] = [];
    await using at = await open({ auth: { verify: (token) => void seen.push(token) } });
    expect((await raw(`${at.url}${ping}?access_token=good&authorization=Bearer%20good`, json)).status).toBe(401);
    expect(seen).toEqual([]);
  });
});
