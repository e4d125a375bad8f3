import { createServer as createHttp } from "node:http";
import { type AddressInfo, connect as connectTcp } from "node:net";
import * as grpc from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Listener, type Service, serve } from "../../src/api/index.js";
import { encodeMessage } from "../../src/codec/mcpv1/index.js";
import {
  Fault,
  type FaultCode,
  failing,
  fromRpcError,
  grpcStatuses,
  httpStatuses,
  type JsonObject,
  jsonRpcCodes,
  once,
  type RequestRefusal,
  refusalDetails,
  refusedStatus,
  requestStatuses,
  revisionOf,
  revisions,
} from "../../src/core/index.js";
import { nodeHandler } from "../../src/wires/http/index.js";
import { begin, call, events, modern, open, post, postModern, type Rpc, rpc } from "../http/requests.js";

const codes = Object.keys(httpStatuses) as FaultCode[];
const eras = ["legacy", "modern"] as const;

/** Every tool fails, with the fault that it is named after. */
const failingService: Service = {
  call(request, context) {
    const { method, params } = request;
    if (method === "server/discover")
      return once(context, () => ({ supportedVersions: ["2026-07-28"], capabilities: { tools: {} }, resultType: "complete" }));
    if (method !== "tools/call") return failing(new Fault("unknown-method", `unknown method: ${method}`));
    const name = String(params["name"]);
    if (/^-?\d+$/.test(name)) return failing(fromRpcError({ code: Number(name), message: "said", data: { kept: true } }));
    return failing(new Fault(name as FaultCode, "said", { data: { kept: true } }));
  },
  notify: () => Promise.resolve(),
};

describe("an error that answers a call", () => {
  let http: Listener;
  let grpcListener: Listener;
  let session: Record<string, string>;
  beforeAll(async () => {
    http = await serve(failingService, "http://127.0.0.1:0");
    grpcListener = await serve(failingService, "grpc://127.0.0.1:0");
    session = await begin(http.address);
  });
  afterAll(() => Promise.all([http.close(), grpcListener.close()]));

  const ask = (era: "legacy" | "modern", name: string): Promise<Response> =>
    era === "legacy"
      ? post(http.address, call(name, name), session)
      : postModern(http.address, modern(name, "tools/call", { name, arguments: {} }));

  for (const era of eras)
    it.each(codes)(`HTTP, ${era}: %s`, async (code) => {
      const answer = await ask(era, code);
      const revision = revisionOf[era];
      expect(answer.status).toBe(httpStatuses[code][revision].answered);
      expect(await rpc(answer)).toEqual({
        jsonrpc: "2.0",
        id: code,
        error: { code: jsonRpcCodes[code][revision], message: "said", data: { kept: true } },
      });
    });

  it.each(codes)("gRPC, by grpc-js: %s", async (code) => {
    const client = new grpc.Client(grpcListener.address.replace("grpc://", ""), grpc.credentials.createInsecure());
    const pass = (bytes: Buffer): Buffer => bytes;
    const request = Buffer.from(encodeMessage("CallToolRequest", { name: code }, { twin: false }));
    const error = await new Promise<grpc.ServiceError>((resolve) =>
      client.makeUnaryRequest("/mcp.v1.McpService/CallTool", pass, pass, request, (failed) => resolve(failed as grpc.ServiceError)),
    );
    expect([error.code, error.details]).toEqual([grpcStatuses[code], "said"]);
    expect(error.metadata.get("mcp-error-code")).toEqual([String(jsonRpcCodes[code]["2025-11-25"])]);
    client.close();
  });

  it("has a peer's own code, but for those that the revision has given up", async () => {
    for (const code of [-32002, -32042, -32000, -32050, 7]) {
      const [legacy, now] = [await rpc(ask("legacy", String(code))), await rpc(ask("modern", String(code)))];
      expect(legacy.error).toEqual({ code, message: "said", data: { kept: true } });
      const other = { [-32002]: -32602, [-32042]: -32603 }[code] ?? code;
      expect(now.error).toEqual({ code: other, message: "said", data: { kept: true } });
    }
  });
});

type Refused = readonly [status: number, code: number | undefined];
async function refused(answer: Response | Promise<Response>): Promise<Refused> {
  const got = await answer;
  const text = await got.text();
  return [got.status, text.startsWith("{") ? (JSON.parse(text) as Rpc).error?.code : undefined];
}

/** How a refusal with each fault comes about over HTTP. Those that are not here are never made before a call. */
const refusals: Readonly<Record<string, () => Promise<Refused>>> = {
  async parse() {
    await using at = await open();
    return await refused(post(at.url, "{"));
  },
  async "invalid-request"() {
    await using at = await open();
    return await refused(post(at.url, "{}"));
  },
  async "invalid-params"() {
    await using at = await open();
    return await refused(post(at.url, '{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}'));
  },
  async "meta-missing"() {
    await using at = await open();
    return await refused(post(at.url, { jsonrpc: "2.0", id: 1, method: "tools/list" }, { "mcp-protocol-version": "2026-07-28" }));
  },
  async "header-mismatch"() {
    await using at = await open();
    return await refused(postModern(at.url, modern(1, "tools/list"), { "mcp-method": "tools/call" }));
  },
  async "unsupported-version"() {
    await using at = await open();
    return await refused(post(at.url, call(1, "echo"), { "mcp-protocol-version": "1999-12-31" }));
  },
  async internal() {
    // A mistake of whoever set the server up, which nothing checks.
    await using at = await open({ allowedHosts: [null as never] });
    return await refused(postModern(at.url, modern(1, "tools/list")));
  },
  async overload() {
    await using at = await open({ maxSessions: 1 });
    await begin(at.url);
    const body = { jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-11-25", capabilities: {} } };
    return await refused(post(at.url, body));
  },
  async "overload/messageBytes"() {
    await using at = await open({ limits: { messageBytes: 1024 } });
    return await refused(post(at.url, modern(1, "tools/list", { pad: "x".repeat(2048) })));
  },
  async "overload/depth"() {
    await using at = await open();
    return await refused(post(at.url, `{"jsonrpc":"2.0","id":1,"method":"x","params":${'{"a":'.repeat(1e4)}1${"}".repeat(1e4)}}`));
  },
  async "overload/headerBytes"() {
    await using at = await open();
    // Node says it, before anything of the request is looked at: there is no body.
    return [(await fetch(at.url, { headers: { "x-large": "x".repeat(20_000) } })).status, jsonRpcCodes.overload["2026-07-28"]];
  },
  async deadline() {
    // Mounted, since a listener's own host has a time limit for requests, too.
    const host = createHttp(nodeHandler(failingService, { headersMs: 50 }));
    await new Promise<void>((resolve) => host.listen(0, "127.0.0.1", resolve));
    const socket = connectTcp((host.address() as AddressInfo).port, "127.0.0.1");
    socket.write("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{");
    let text = "";
    for await (const chunk of socket) {
      text += String(chunk);
      if (/\r\n\r\n.+}/s.test(text)) break;
    }
    socket.destroy();
    host.close();
    const length = Number(/content-length: (\d+)/i.exec(text)?.[1]);
    const body = JSON.parse(text.slice(text.indexOf("\r\n\r\n") + 4).slice(0, length)) as Rpc;
    return [Number(/^HTTP\/1.1 (\d+)/.exec(text)?.[1]), body.error?.code];
  },
  async "unavailable/closing"() {
    const at = await open({ drainMs: 10_000 });
    const abort = new AbortController();
    const body = modern(1, "tools/call", { name: "wait", arguments: { key: "k" } });
    const waiting = fetch(at.url, { method: "POST", headers: headersOf(body), body: JSON.stringify(body), signal: abort.signal });
    while (!at.waiting.has("k")) await new Promise((resolve) => setTimeout(resolve, 5));
    const closing = at.listener.close();
    const got = await refused(postModern(at.url, modern(2, "tools/list")));
    abort.abort();
    await waiting.catch(() => {});
    await closing;
    return got;
  },
  async unauthenticated() {
    await using at = await open({ auth: { verify: () => undefined } });
    return [(await refused(postModern(at.url, modern(1, "tools/list"))))[0], -31005];
  },
  async denied() {
    await using at = await open();
    return await refused(postModern(at.url, modern(1, "tools/list"), { origin: "https://evil.example" }));
  },
};

function headersOf(body: JsonObject): Record<string, string> {
  return {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": String(body["method"]),
    "mcp-name": String((body["params"] as JsonObject)["name"]),
  };
}

describe("a request over HTTP that is refused", () => {
  it.each(Object.entries(refusals))("%s", async (name, provoke) => {
    const [code, detail] = name.split("/") as [FaultCode, string | undefined];
    const status = refusedStatus({ code, data: { limit: detail } });
    expect(status).toBe(refusalDetails[name] ?? httpStatuses[code]["2026-07-28"].refused);
    expect(await provoke()).toEqual([status, jsonRpcCodes[code]["2026-07-28"]]);
  });

  it("says it to a legacy client in the numbers of its revision", async () => {
    await using at = await open({ limits: { messageBytes: 1024 } });
    const headers = { "mcp-protocol-version": "2025-11-25" };
    expect(await refused(post(at.url, call(1, "x".repeat(2048)), headers))).toEqual([413, -32000]);
  });

  it("every detail and every status of the table is provoked, or never sent before a call", () => {
    expect(Object.keys(refusalDetails).filter((name) => !(name in refusals))).toEqual([]);
    expect(codes.filter((code) => !(code in refusals))).toEqual([
      "unknown-method",
      "not-found",
      "missing-capability",
      "unavailable",
      "cancelled",
      "application",
    ]);
  });
});

const requests: Record<RequestRefusal, () => Promise<number>> = {
  async "no such path"() {
    await using at = await open();
    return (await fetch(`${at.url}/other`)).status;
  },
  async "another method"() {
    await using at = await open();
    return (await fetch(at.url, { method: "PUT" })).status;
  },
  async "an Accept that leaves nothing to answer with"() {
    await using at = await open();
    return (await postModern(at.url, modern(1, "tools/list"), { accept: "text/html" })).status;
  },
  async "a body of another type, or packed"() {
    await using at = await open();
    return (await post(at.url, "{}", { "content-encoding": "gzip" })).status;
  },
  async "no session named"() {
    await using at = await open();
    return (await post(at.url, call(1, "echo"))).status;
  },
  async "a session that is unknown, ended or another's"() {
    await using at = await open();
    return (await post(at.url, call(1, "echo"), { "mcp-session-id": "none" })).status;
  },
  async "a stream that is open already"() {
    await using at = await open();
    const headers = { ...(await begin(at.url)), accept: "text/event-stream" };
    const first = events(await fetch(at.url, { headers }));
    const { status } = await fetch(at.url, { headers });
    void first.return(undefined);
    return status;
  },
  async "events that are not kept any more"() {
    await using at = await open();
    const headers = { ...(await begin(at.url)), accept: "text/event-stream", "last-event-id": "none_1" };
    return (await fetch(at.url, { headers })).status;
  },
  async "no upgrade to WebSocket"() {
    await using listener = await serve(failingService, "ws://127.0.0.1:0");
    return (await fetch(listener.address.replace("ws:", "http:"))).status;
  },
  async "gRPC over HTTP/1.1"() {
    await using listener = await serve(failingService, "grpc://127.0.0.1:0");
    const url = `${listener.address.replace("grpc:", "http:")}/mcp.v1.McpService/Ping`;
    return (await fetch(url, { method: "POST", headers: { "content-type": "application/grpc" }, body: "" })).status;
  },
};

it.each(Object.entries(requests))("a request over HTTP with %s", async (what, provoke) => {
  expect(await provoke()).toBe(requestStatuses[what as RequestRefusal]);
});

it("the draft keeps to the statuses that it names, and those of HTTP's own authorization", () => {
  const statuses = new Set(codes.flatMap((code) => Object.values(httpStatuses[code].draft)));
  expect([...statuses].sort()).toEqual([400, 401, 403, 404, 429, 500, 503]);
  expect(revisions).toEqual(["2025-11-25", "2026-07-28", "draft"]);
});
