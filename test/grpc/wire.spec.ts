import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import * as grpc from "@grpc/grpc-js";
import { describe, expect, it, vi } from "vitest";
import { type ConnectOptions, connect, createServer, type Fault, type McpClient, type ServeOptions, serve } from "../../src/api/index.js";
import { encodeMessage } from "../../src/codec/mcpv1/index.js";
import { authority } from "../fixtures/certificates.js";

const root = authority();
const tls = root.issue("localhost", "127.0.0.1");
const ca = root.cert;

/** A server whose tools tell what they are told. */
function telling() {
  return createServer({ name: "telling", version: "1" })
    .tool("whoami", {}, (_args, ctx) => ctx.client.identity.principal ?? "nobody")
    .tool("deadline", {}, (_args, ctx) => (ctx.deadline === undefined ? "none" : "some"))
    .tool("trace", {}, (_args, ctx) => ctx.trace?.["traceparent"] ?? "none")
    .tool("slow", {}, async ({ ms }) => {
      await new Promise((resolve) => setTimeout(resolve, Number(ms)));
      return "slept";
    })
    .tool("wait", {}, (_args, ctx) => new Promise((resolve) => ctx.cancel.on(() => resolve("left"))));
}

async function opened(options: ServeOptions = {}, dial: ConnectOptions = {}, address = "grpc://127.0.0.1:0") {
  const listener = await serve(telling(), address, options);
  const client = await connect(listener.address, dial);
  return {
    client,
    listener,
    async [Symbol.asyncDispose]() {
      await client.close();
      await listener.close();
    },
  };
}

const text = async (client: McpClient, tool: string, args = {}): Promise<unknown> => (await client.callTool(tool, args)).content?.[0];

it.each(["session", "rpc"] as const)("a message larger than one may be fails its call alone, by %s", async (calls) => {
  await using at = await opened({}, { calls, limits: { messageBytes: 100_000 } });
  const waiting = at.client.callTool("slow", { ms: 300 });
  await expect(at.client.callTool("whoami", { much: "x".repeat(100_000) })).rejects.toMatchObject({
    code: "overload",
    data: { limit: "messageBytes", max: 100_000 },
  });
  expect((await waiting).content?.[0]).toMatchObject({ text: "slept" });
});

describe("grpcs", () => {
  it("is served to whoever trusts the certificate, and to nobody else", async () => {
    await using at = await opened({ tls }, { tls: { ca } }, "grpcs://127.0.0.1:0");
    expect(await text(at.client, "whoami")).toMatchObject({ text: "nobody" });
    await expect(connect(at.listener.address, { handshakeMs: 3_000 })).rejects.toMatchObject({ code: "unavailable" });
    await expect(connect(at.listener.address.replace("grpcs", "grpc"), { handshakeMs: 3_000 })).rejects.toMatchObject({
      code: "unavailable",
    });
  });

  it("takes the name in a client's certificate for its principal, and lets in nobody without one", async () => {
    const { cert, key } = root.issue("agent.example");
    await using at = await opened({ tls: { ...tls, ca, requestClientCert: true } }, { tls: { ca, cert, key } }, "grpcs://127.0.0.1:0");
    expect(await text(at.client, "whoami")).toMatchObject({ text: "agent.example" });
    await expect(connect(at.listener.address, { tls: { ca } })).rejects.toMatchObject({ code: "unavailable" });
  });

  it("is needed where others can connect, unless said otherwise", async () => {
    await expect(serve(telling(), "grpc://0.0.0.0:0")).rejects.toMatchObject({ code: "invalid-params" });
    await expect(serve(telling(), "grpcs://127.0.0.1:0")).rejects.toMatchObject({ code: "invalid-params" });
    const listener = await serve(telling(), "grpc://0.0.0.0:0", { insecure: true });
    await listener.close();
  });
});

describe("credentials", () => {
  const auth = {
    scopes: ["mcp:call", "mcp:read"],
    verify: (token: string) =>
      token === "good"
        ? { id: "ada", scopes: ["mcp:call", "mcp:read"] }
        : token === "poor"
          ? { id: "bo", scopes: ["mcp:call"] }
          : undefined,
  };
  it("come in the metadata of every call, on the stream and as RPCs", async () => {
    for (const calls of ["session", "rpc"] as const) {
      await using at = await opened({ auth }, { headers: { authorization: "Bearer good" }, calls });
      expect(await text(at.client, "whoami")).toMatchObject({ text: "ada" });
    }
  });
  it("that are missing, wrong or too little are told apart", async () => {
    const listener = await serve(telling(), "grpc://127.0.0.1:0", { auth });
    const refused = (headers: Record<string, string>): Promise<Fault> =>
      connect(listener.address, { headers }).then(
        () => Promise.reject("connected"),
        (fault) => fault,
      );
    expect(await refused({})).toMatchObject({ code: "unauthenticated" });
    expect(await refused({ authorization: "Bearer bad" })).toMatchObject({ code: "unauthenticated" });
    const poor = await refused({ authorization: "Bearer poor" });
    expect(poor).toMatchObject({ code: "denied" });
    expect(poor.message).toContain("mcp:call mcp:read");
    await listener.close();
  });
  it("of one caller open no session of another", async () => {
    const listener = await serve(telling(), "grpc://127.0.0.1:0", { auth: { verify: (token: string) => ({ id: token }) } });
    const service = "/mcp.v1.McpService/";
    const raw = new grpc.Client(listener.address.slice(7), grpc.credentials.createInsecure());
    const call = (method: string, who: string, session?: string) =>
      new Promise<{ error: grpc.ServiceError | null; metadata: grpc.Metadata }>((resolve) => {
        const metadata = new grpc.Metadata();
        metadata.set("authorization", `Bearer ${who}`);
        if (session !== undefined) metadata.set("mcp-session-id", session);
        let headers = new grpc.Metadata();
        raw
          .makeUnaryRequest(
            service + method,
            (value: Buffer) => value,
            (value) => value,
            Buffer.alloc(0),
            metadata,
            (error) => resolve({ error, metadata: headers }),
          )
          .on("metadata", (given) => {
            headers = given;
          });
      });
    const begun = await call("Initialize", "ada");
    const [session] = begun.metadata.get("mcp-session-id");
    expect(typeof session).toBe("string");
    expect((await call("Complete", "bo", String(session))).error?.code).toBe(grpc.status.NOT_FOUND);
    expect((await call("Complete", "ada", String(session))).error?.code).not.toBe(grpc.status.NOT_FOUND);
    raw.close();
    await listener.close();
  });
});

describe("a host or a mirror that does not fit", () => {
  it("is refused", async () => {
    await using at = await opened();
    const address = at.listener.address.slice(7);
    const call = (metadata: Record<string, string>, authorityName?: string) =>
      new Promise<grpc.ServiceError | null>((resolve) => {
        const raw = new grpc.Client(
          address,
          grpc.credentials.createInsecure(),
          authorityName === undefined ? {} : { "grpc.default_authority": authorityName },
        );
        const sent = new grpc.Metadata();
        for (const [name, value] of Object.entries(metadata)) sent.set(name, value);
        const name = Buffer.from("\n\u0006whoami");
        raw.makeUnaryRequest(
          "/mcp.v1.McpService/CallTool",
          (value: Buffer) => value,
          (value) => value,
          name,
          sent,
          (error) => {
            raw.close();
            resolve(error);
          },
        );
      });
    expect(await call({ "mcp-method": "tools/call", "mcp-name": "whoami" })).toBeNull();
    const wrong = await call({ "mcp-method": "tools/list" });
    expect(wrong).toMatchObject({ code: grpc.status.INVALID_ARGUMENT });
    expect(wrong?.metadata.get("mcp-error-code")).toEqual(["-32020"]);
    expect(await call({ "mcp-name": "other" })).toMatchObject({ code: grpc.status.INVALID_ARGUMENT });
    expect(await call({}, "evil.example")).toMatchObject({ code: grpc.status.PERMISSION_DENIED });
  });
});

describe("what proxies make of a call", () => {
  it("has its host in the Host header alone", async () => {
    await using at = await opened();
    const session = connectHttp2(at.listener.address.replace("grpc:", "http:"));
    const status = async (host: string) => {
      const request = session.request({
        ":method": "POST",
        ":path": "/grpc.health.v1.Health/Check",
        host,
        "content-type": "application/grpc",
        te: "trailers",
      });
      request.end(Buffer.alloc(5)).resume();
      let said: unknown;
      request.on("response", (headers) => (said ??= headers["grpc-status"])).on("trailers", (headers) => (said ??= headers["grpc-status"]));
      await once(request, "close");
      return said;
    };
    expect(await status("localhost:8000")).toBe("0");
    expect(await status("evil.example")).toBe("7");
    session.destroy();
  });
});

describe("what gRPC people expect", () => {
  it("a deadline travels as grpc-timeout, a trace as metadata", async () => {
    await using at = await opened({}, { calls: "rpc" });
    expect((await at.client.callTool("deadline", {}, { timeout: 20_000 })).content?.[0]).toMatchObject({ text: "some" });
    const raw = new grpc.Client(at.listener.address.slice(7), grpc.credentials.createInsecure());
    const metadata = new grpc.Metadata();
    metadata.set("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
    const reply = await new Promise<Buffer>((resolve, reject) =>
      raw.makeUnaryRequest(
        "/mcp.v1.McpService/CallTool",
        (value: Buffer) => value,
        (value) => value,
        Buffer.from("\n\u0005trace"),
        metadata,
        (error, value) => (error === null ? resolve(value as Buffer) : reject(error)),
      ),
    );
    expect(reply.toString()).toContain("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
    raw.close();
  });

  it("calls in flight finish while the server drains, and new ones are refused", async () => {
    const at = await opened();
    const slow = at.client.callTool("slow", { ms: 300 });
    await new Promise((resolve) => setTimeout(resolve, 50));
    const closed = at.listener.close();
    expect((await slow).content?.[0]).toMatchObject({ text: "slept" });
    await closed;
    await expect(at.client.callTool("whoami")).rejects.toMatchObject({ code: "unavailable" });
    await at.client.close();
  });

  it("a client of several addresses finds the one that listens, and comes back after a restart", async () => {
    const gone = await serve(telling(), "grpc://127.0.0.1:0");
    const free = gone.address.slice(7);
    await gone.close();
    const first = await serve(telling(), "grpc://127.0.0.1:0");
    const client = await connect(`grpc://${free},${first.address.slice(7)}`);
    expect(await text(client, "whoami")).toMatchObject({ text: "nobody" });
    await first.close();
    const second = await serve(telling(), first.address);
    await vi.waitFor(async () => expect(await text(client, "whoami")).toMatchObject({ text: "nobody" }), {
      timeout: 20_000,
      interval: 100,
    });
    await client.close();
    await second.close();
  });
});

it("where only the legacy era is served, a request that names a version still belongs to the session that it names", async () => {
  await using open = await opened({ eras: ["legacy"] });
  const peer = new grpc.Client(open.listener.address.slice(7), grpc.credentials.createInsecure());
  const params = { name: "whoami", arguments: {}, _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } };
  const metadata = new grpc.Metadata();
  metadata.set("mcp-session-id", "A".repeat(22));
  const refused = new Promise((_resolve, reject) =>
    peer.makeUnaryRequest(
      "/mcp.v1.McpService/CallTool",
      (bytes: Uint8Array) => Buffer.from(bytes),
      (bytes) => bytes,
      encodeMessage("CallToolRequest", params, { twin: true }),
      metadata,
      (error) => reject(error ?? new Error("it was answered")),
    ),
  );
  await expect(refused).rejects.toMatchObject({ code: grpc.status.NOT_FOUND });
  peer.close();
});
