import { createHash, scryptSync } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import { createConnection } from "node:net";
import { join } from "node:path";
import * as grpc from "@grpc/grpc-js";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import {
  Caller,
  Canceller,
  type Context,
  connect,
  createServer,
  Fault,
  layered,
  once,
  type Server,
  type Service,
  serve,
} from "../../src/api/index.js";
import { apiKeys, filterTools, limitRate, newKey } from "../../src/bridge/index.js";
import { everything, scratch } from "../cli/support.js";

const modernMeta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "raw", version: "0" },
  "io.modelcontextprotocol/clientCapabilities": {},
};
const sha = (key: string): string => createHash("sha256").update(key).digest("hex");

function sample(seen?: (metadata: Context["metadata"]) => void): Server {
  return createServer({ name: "sample", version: "1" }).tool("who", {}, (_args, { client, metadata }) => {
    seen?.(metadata);
    return String(client.identity.principal);
  });
}

async function official(url: string, headers: Record<string, string>): Promise<Client> {
  const client = new Client({ name: "sdk", version: "0" });
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }) as Parameters<Client["connect"]>[0]);
  onTestFinished(() => client.close());
  return client;
}

async function who(client: Client): Promise<unknown> {
  return ((await client.callTool({ name: "who" })) as { content: { text: string }[] }).content[0]?.text;
}

describe("apiKeys()", () => {
  it("lets in the keys of a file, as a bearer token or in X-API-Key, and nobody else", async () => {
    const file = join(scratch(), "keys");
    const made = newKey("ada");
    const salt = Buffer.from("0123456789abcdef");
    const slow = `scrypt$16384$8$1$${salt.toString("base64")}$${scryptSync("correct horse", salt, 32, { N: 16384, r: 8, p: 1 }).toString("base64")}`;
    writeFileSync(file, `# keys\n${made.line}\nbob:${sha("b0b")}\n\neve:${slow}\n`);
    const seen: Context["metadata"][] = [];
    await using listener = await serve(
      sample((metadata) => seen.push(metadata)),
      "http://127.0.0.1:0",
      { auth: await apiKeys(file) },
    );
    expect(await who(await official(listener.address, { authorization: `Bearer ${made.key}` }))).toBe("ada");
    expect(await who(await official(listener.address, { "x-api-key": "b0b" }))).toBe("bob");
    expect(await who(await official(listener.address, { "x-api-key": "correct horse" }))).toBe("eve");
    for (const headers of [
      {},
      { "x-api-key": "" },
      { "x-api-key": "correct" },
      { "x-api-key": "B0B" },
      { authorization: "Basic b0b" },
      { "x-api-key": sha("b0b") },
    ])
      await expect(official(listener.address, headers as Record<string, string>)).rejects.toThrow();
    expect(JSON.stringify(seen)).not.toContain("b0b");
  });

  it("says what is missing to the official client, to a plain request, and to one of Connect", async () => {
    const file = join(scratch(), "keys");
    writeFileSync(file, `ada:${sha("k")}\n`);
    await using listener = await serve(sample(), "any://127.0.0.1:0", { auth: await apiKeys(file) });
    const url = listener.addresses?.find(({ wire }) => wire === "http")?.address ?? "";
    const why = "the call needs valid credentials";
    await expect(official(url, {})).rejects.toThrow(why);
    const json = { "content-type": "application/json" };
    const plain = await fetch(url, { method: "POST", headers: json, body: "{}" });
    expect([plain.status, plain.headers.get("content-type"), plain.headers.has("www-authenticate")]).toEqual([
      401,
      json["content-type"],
      true,
    ]);
    expect(await plain.json()).toMatchObject({ jsonrpc: "2.0", id: null, error: { message: why } });
    const connect = await fetch(new URL("/mcp.v1.McpService/Ping", url), { method: "POST", headers: json, body: "{}" });
    expect([connect.status, await connect.json()]).toEqual([401, { code: "unauthenticated", message: why }]);
  });

  it("guards gRPC the same way", async () => {
    const file = join(scratch(), "keys");
    writeFileSync(file, `ada:${sha("k")}\n`);
    await using listener = await serve(sample(), "grpc://127.0.0.1:0", { auth: await apiKeys(file) });
    const channel = new grpc.Client(listener.address.replace("grpc://", ""), grpc.credentials.createInsecure());
    onTestFinished(() => channel.close());
    const status = (headers: Record<string, string>): Promise<number> =>
      new Promise((resolve) => {
        const metadata = new grpc.Metadata();
        for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
        const identity = (bytes: Buffer): Buffer => bytes;
        channel.makeUnaryRequest("/mcp.v1.McpService/Ping", identity, identity, Buffer.alloc(0), metadata, (error) =>
          resolve(error?.code ?? grpc.status.OK),
        );
      });
    expect(await status({})).toBe(grpc.status.UNAUTHENTICATED);
    expect(await status({ "x-api-key": "other" })).toBe(grpc.status.UNAUTHENTICATED);
    expect(await status({ "x-api-key": "k" })).toBe(grpc.status.OK);
    expect(await status({ authorization: "Bearer k" })).toBe(grpc.status.OK);
  });

  it("reads the file again when it changes, and lets nobody in while it cannot", async () => {
    const file = join(scratch(), "keys");
    const faults: Fault[] = [];
    writeFileSync(file, `ada:${sha("a")}\n`);
    const { verify } = await apiKeys(file, { onFault: (fault) => faults.push(fault), recheckMs: 0 });
    expect(await verify("a")).toEqual({ id: "ada" });
    writeFileSync(file, `bob:${sha("b")}\nnonsense\n`);
    await vi.waitFor(async () => expect(await verify("b")).toEqual({ id: "bob" }));
    expect(await verify("a")).toBeUndefined();
    expect(faults.map(({ message }) => message).join()).toContain("line 2");
    rmSync(file);
    expect(await verify("b")).toBeUndefined();
    expect(faults.at(-1)?.message).toContain("cannot be read");
    writeFileSync(file, `bob:${sha("b")}\n`);
    expect(await verify("b")).toEqual({ id: "bob" });
    await expect(apiKeys(join(scratch(), "none"))).rejects.toThrow("ENOENT");
  });

  it("checks slow hashes one after the other, and no more than a few", async () => {
    const file = join(scratch(), "keys");
    const salt = Buffer.from("0123456789abcdef").toString("base64");
    writeFileSync(file, `eve:scrypt$16384$8$1$${salt}$${Buffer.alloc(32).toString("base64")}\n`);
    const { verify } = await apiKeys(file);
    const verdicts = await Promise.allSettled(Array.from({ length: 200 }, (_, n) => Promise.resolve(verify(`guess-${n}`))));
    expect(verdicts.filter(({ status }) => status === "rejected").length).toBeGreaterThan(150);
  });
});

describe("apiKeys() with slow hashes", () => {
  it.each(["http", "grpc"])("says over %s that too many keys are being checked, and not that the key is wrong", async (scheme) => {
    const data = { limit: "apiKeys", max: 16 };
    const verify = (): never => {
      throw new Fault("overload", "too many API keys are being checked", { data });
    };
    await using listener = await serve(sample(), `${scheme}://127.0.0.1:0`, { auth: { verify } });
    const headers = { authorization: "Bearer key" };
    const fault = await connect(listener.address, { headers }).catch((error: unknown) => error);
    expect(fault).toMatchObject({ code: "overload", message: "too many API keys are being checked" });
    if (scheme === "grpc") return;
    expect(fault).toMatchObject({ data });
    const answer = await fetch(listener.address, { method: "POST", headers, body: "{}" });
    expect([answer.status, answer.headers.get("www-authenticate")]).toEqual([429, null]);
  });

  it("does not forget who had a key because others guess", async () => {
    const file = join(scratch(), "keys");
    const salt = Buffer.from("0123456789abcdef");
    const digest = scryptSync("correct horse", salt, 32, { N: 2, r: 1, p: 1 }).toString("base64");
    writeFileSync(file, `eve:scrypt$2$1$1$${salt.toString("base64")}$${digest}\n`);
    const { verify } = await apiKeys(file, { recheckMs: 3_600_000 });
    expect(await verify("correct horse")).toEqual({ id: "eve" });
    for (let round = 0; round < 80; round++)
      await Promise.all(Array.from({ length: 16 }, (_, n) => Promise.resolve(verify(`guess ${round} ${n}`))));
    const guesses = Array.from({ length: 16 }, (_, n) => Promise.resolve(verify(`last guess ${n}`)));
    expect(await verify("correct horse")).toEqual({ id: "eve" });
    expect(await Promise.all(guesses)).toEqual(guesses.map(() => undefined));
  });
});

describe("filterTools()", () => {
  it("hides tools of a real server, and refuses their calls", async () => {
    const [, command = "", ...args] = everything;
    const layers = [filterTools({ allow: ["e*", "get-*", "a/b"], deny: ["get-env"] })];
    await using client = await connect({ command, args }, { layers });
    const names: string[] = [];
    for await (const { name } of client.tools()) names.push(name);
    expect(names).toContain("echo");
    expect(names).toContain("get-sum");
    expect(names).not.toContain("get-env");
    expect(names.every((name) => /^(e|get-)/.test(name))).toBe(true);
    expect((await client.callTool("echo", { message: "hi" })).content).toEqual([{ type: "text", text: "Echo: hi" }]);
    await expect(client.callTool("get-env")).rejects.toThrow('the tool "get-env" is not offered here');
    await expect(client.callTool("toggle-simulated-logging")).rejects.toThrow("is not offered here");
  });

  it("takes letters of either case where a glob says so", async () => {
    const server = createServer({ name: "s", version: "1" });
    for (const name of ["deleteAll", "DELETE_ONE", "undelete", "a?b", "aXb"]) server.tool(name, {}, () => name);
    const layers = [filterTools({ deny: ["(?i)Delete*", "(?i)A\\?b"] })];
    await using listener = await serve(layered(server, ...layers), "tcp://127.0.0.1:0");
    await using client = await connect(listener.address);
    const names: string[] = [];
    for await (const { name } of client.tools()) names.push(name);
    expect(names).toEqual(["undelete", "aXb"]);
    await expect(client.callTool("DELETE_ONE")).rejects.toThrow("is not offered here");
    await expect(client.callTool("a?b")).rejects.toThrow("is not offered here");
  });

  it("leaves pages as they are, and the list streaming", async () => {
    let made = 0;
    const many = createServer({ name: "many", version: "1" }).tools({
      async *list() {
        for (let n = 0; n < 100_000; n++) {
          made++;
          yield { name: `${n % 2 === 0 ? "even" : "odd"}/${n}`, inputSchema: { type: "object" } };
        }
      },
      call: (name) => name,
    });
    await using listener = await serve(layered(many, filterTools({ deny: ["odd*"] })), "http://127.0.0.1:0");
    await using client = await connect(listener.address);
    for await (const { name } of client.tools()) {
      expect(name).toBe("even/0");
      break;
    }
    expect(made).toBeLessThan(10_000);
    expect((await client.callTool("even/2")).content[0]).toMatchObject({ text: "even/2" });
    await expect(client.callTool("odd/1")).rejects.toThrow("is not offered here");
  });

  it("asks the server nothing of a call that it refuses", async () => {
    const seen: string[] = [];
    const inner: Service = {
      call(request, context) {
        seen.push(request.method);
        return once(context, () => ({}));
      },
      notify: async () => {},
    };
    const service = filterTools({ deny: ["*"] })(inner);
    const context = {} as Context;
    for (const name of ["x", 1, undefined])
      await expect(service.call({ method: "tools/call", params: { name } }, context).next()).rejects.toThrow(/not offered|names no tool/);
    expect(seen).toEqual([]);
  });

  it("refuses a tool whose name is no text, and a call without an id", async () => {
    const seen: unknown[] = [];
    const inner: Service = {
      call: (_request, context) => once(context, () => ({})),
      notify: async ({ method, params }) => void seen.push(params["name"] ?? method),
    };
    await using listener = await serve(layered(inner, filterTools({ deny: ["delete*"] })), "tcp://127.0.0.1:0");
    const socket = createConnection(Number(new URL(listener.address).port), "127.0.0.1");
    onTestFinished(() => void socket.destroy());
    let answers = "";
    socket.on("data", (data) => {
      answers += String(data);
    });
    const clientInfo = { name: "raw", version: "0" };
    for (const message of [
      { id: 1, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo } },
      { method: "notifications/initialized" },
      { method: "tools/call", params: { name: "delete_all" } },
      { method: "tools/call", params: { name: "echo" } },
      { method: "notifications/last" },
    ])
      socket.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    await vi.waitFor(() => expect(seen).toContain("notifications/last"));
    expect(seen).toEqual(["notifications/last"]);
    socket.write('{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":1e400}}\n');
    await vi.waitFor(() => expect(answers).toMatch(/"id":2,"error":\{"code":-32602,"message":"the tool 1e400 is not offered/));
    socket.write('{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{}}\n');
    await vi.waitFor(() => expect(answers).toMatch(/"id":3,"error":\{"code":-32602,"message":"the call names no tool"/));
  });
});

describe("filterTools() and members that look alike", () => {
  it("keeps what a server could take for another tool from it, and passes other members on", async () => {
    const seen: unknown[] = [];
    const inner: Service = {
      call: (request, context) => {
        seen.push(request.method);
        return once(context, () => ({}));
      },
      notify: async ({ method }) => void seen.push(method),
    };
    const layers = [limitRate({ perTool: { calls: 9, ms: 1000 } }), filterTools({ deny: ["delete*"] })];
    await using listener = await serve(layered(inner, ...layers), "tcp://127.0.0.1:0");
    const socket = createConnection(Number(new URL(listener.address).port), "127.0.0.1");
    onTestFinished(() => void socket.destroy());
    let answers = "";
    socket.on("data", (data) => {
      answers += String(data);
    });
    const clientInfo = { name: "raw", version: "0" };
    const say = (message: object): boolean => socket.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    say({ id: 0, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo } });
    say({ method: "notifications/initialized" });
    const hidden = { name: "delete_all" };
    say({ id: 1, method: "tools/call", params: { name: "echo", Name: "delete_all" } });
    say({ id: 2, method: "tools/call", params: { name: "echo" }, Params: hidden });
    say({ id: 3, method: "resources/read", params: { uri: "a:b" }, Method: "tools/call", "param\u017f": hidden });
    say({ method: "notifications/x", METHOD: "tools/call", Params: hidden, ID: 4 });
    await vi.waitFor(() => expect(answers.match(/"id":[123],"error":\{"code":-32602,"message":"the member/g)).toHaveLength(3));
    say({ id: 5, method: "tools/call", params: { name: "echo", names: 1, "x-name": 2 }, "x-method": 3 });
    say({ method: "notifications/last", "x-method": 3 });
    const told = (): unknown[] => seen.filter((method) => /^(tools|resources|notifications)/.test(String(method)));
    await vi.waitFor(() => expect(told()).toEqual(["tools/call", "notifications/last"]));
  });
});

describe("limitRate()", () => {
  it("refuses what one client calls beyond its rate, with a hint, and nobody else", async () => {
    const file = join(scratch(), "keys");
    writeFileSync(file, `ada:${sha("a")}\nbob:${sha("b")}\n`);
    const layer = limitRate({ perClient: { calls: 10, ms: 3_600_000 }, perTool: { calls: 2, ms: 3_600_000 } });
    await using listener = await serve(layered(sample(), layer), "http://127.0.0.1:0", { auth: await apiKeys(file) });
    const [ada, bob] = [await official(listener.address, { "x-api-key": "a" }), await official(listener.address, { "x-api-key": "b" })];
    expect([await who(ada), await who(ada)]).toEqual(["ada", "ada"]);
    await expect(who(ada)).rejects.toMatchObject({ data: { limit: "toolRate", retryAfterMs: expect.any(Number) } });
    // Another session is the same client.
    const again = await official(listener.address, { "x-api-key": "a" });
    await expect(who(again)).rejects.toMatchObject({ data: { limit: "toolRate" } });
    await expect(
      (async () => {
        for (let n = 0; n < 20; n++) await ada.listTools();
      })(),
    ).rejects.toMatchObject({ data: { limit: "clientRate" } });
    expect(await who(bob)).toBe("bob");
    const modern = { jsonrpc: "2.0", id: 1, method: "tools/list", params: { _meta: modernMeta } };
    const headers = { "content-type": "application/json", accept: "application/json, text/event-stream", "x-api-key": "a" };
    const answer = await fetch(listener.address, {
      method: "POST",
      headers: { ...headers, "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/list" },
      body: JSON.stringify(modern),
    });
    const { error } = (await answer.json()) as { error: object };
    expect(error).toMatchObject({ code: -31001, data: { limit: "clientRate", retryAfterMs: expect.any(Number) } });
  });

  it("says so over gRPC and Connect with RESOURCE_EXHAUSTED, 429 and the hint", async () => {
    const layers = [limitRate({ perClient: { calls: 1, ms: 3_600_000 } })];
    await using listener = await serve(layered(sample(), ...layers), "grpc://127.0.0.1:0", { anonymous: "one" });
    const at = listener.address.replace("grpc://", "");
    const channel = new grpc.Client(at, grpc.credentials.createInsecure());
    onTestFinished(() => channel.close());
    const bytes = (buffer: Buffer): Buffer => buffer;
    const listed = (): Promise<grpc.ServiceError | null> =>
      new Promise((resolve) => channel.makeUnaryRequest("/mcp.v1.McpService/ListTools", bytes, bytes, Buffer.alloc(0), resolve));
    expect(await listed()).toBeNull();
    const error = await listed();
    expect(error).toMatchObject({ code: grpc.status.RESOURCE_EXHAUSTED, details: expect.stringMatching(/^too many calls; try again in/) });
    const hint = { limit: "clientRate", retryAfterMs: expect.any(Number) };
    expect(JSON.parse(String(error?.metadata.get("mcp-error-data-bin")[0]))).toEqual(hint);
    const headers = { "content-type": "application/json", "connect-protocol-version": "1" };
    const refused = await fetch(`http://${at}/mcp.v1.McpService/GetPrompt`, { method: "POST", headers, body: "{}" });
    expect([refused.status, await refused.json()]).toEqual([429, expect.objectContaining({ code: "resource_exhausted" })]);
    expect(JSON.parse(atob(refused.headers.get("mcp-error-data-bin") ?? ""))).toEqual(hint);
  });

  it("lets a client go on in time, and remembers no more than so many", async () => {
    const inner: Service = { call: (_request, context) => once(context, () => ({})), notify: async () => {} };
    const limited = (ms: number): ((principal: string) => Promise<unknown>) => {
      const service = limitRate({ perClient: { calls: 1, ms } })(inner);
      return (principal) => {
        const context = { client: { identity: new Caller({ principal }) }, cancel: new Canceller() } as unknown as Context;
        return service.call({ method: "tools/list", params: {} }, context).next();
      };
    };
    const soon = limited(50);
    await soon("ada");
    await expect(soon("ada")).rejects.toThrow("try again in");
    await vi.waitFor(() => soon("ada"));
    const never = limited(3_600_000);
    await never("ada");
    for (let n = 0; n < 9_000; n++) await never(`client-${n}`);
    await expect(never("ada")).rejects.toThrow("try again in");
    for (let n = 9_000; n < 20_000; n++) await never(`client-${n}`);
    await never("ada");
  });
});

describe("limitRate() for tools", () => {
  const inner: Service = { call: (_request, context) => once(context, () => ({})), notify: async () => {} };
  const service = limitRate({ perTool: { calls: 2, ms: 3_600_000 } })(inner);
  const call = (principal: string, name: string): Promise<unknown> => {
    const context = { client: { identity: new Caller({ principal }) }, cancel: new Canceller() } as unknown as Context;
    return service.call({ method: "tools/call", params: { name } }, context).next();
  };

  it("forgets none because its client calls very many others, and nothing of another client", async () => {
    for (const who of ["ada", "bob"]) for (let n = 0; n < 2; n++) await call(who, "costly");
    await Promise.allSettled(Array.from({ length: 12_000 }, (_, n) => call("ada", `other ${n}`)));
    await expect(call("ada", "costly")).rejects.toThrow("too many calls");
    await expect(call("bob", "costly")).rejects.toThrow("too many calls");
    await call("bob", "cheap");
    await expect(call("ada", "yet another")).rejects.toThrow("too many calls");
  });
});

describe("trustedProxy", () => {
  it.each(["http", "ws", "grpc"])("names the user over %s, and only if it is trusted", async (scheme) => {
    const open = (addresses: readonly string[]): ReturnType<typeof serve> =>
      serve(sample(), `${scheme}://127.0.0.1:0`, { trustedProxy: { addresses, userHeader: "x-user" } });
    await using trusted = await open(["127.0.0.0/8"]);
    await using other = await open(["10.0.0.0/8"]);
    const said = async (address: string): Promise<unknown> => {
      await using client = await connect(address, { headers: { "x-user": "ada" } });
      return (await client.callTool("who")).content[0]?.["text"];
    };
    expect([await said(trusted.address), await said(other.address)]).toEqual(["ada", "undefined"]);
  });
});
