import { createServer as createHttp, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, it } from "vitest";
import { createClient, createServer, type Fault, type JsonObject, type McpClient, meta, type Server } from "../../core/index.js";
import { http } from "./http.js";

const region = {
  type: "object",
  properties: { region: { type: "string", "x-mcp-header": "Region" }, count: { type: "integer", "x-mcp-header": "Count" } },
};

function regional(): Server {
  return createServer({ name: "s", version: "1" })
    .tool("plain", {}, () => "plain")
    .tool("deploy", { input: region }, ({ region: where }) => `to ${String(where)}`);
}

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function served(server: Server): Promise<string> {
  const listener = await http.listen(server, "http://127.0.0.1:0/mcp", {});
  closing.push(() => listener.close());
  return listener.address;
}

async function dialed(address: string, faults: Fault[] = []): Promise<McpClient> {
  const client = await createClient(await http.dial(address, { era: "modern", onFault: (fault) => void faults.push(fault) }));
  closing.push(() => client.close());
  return client;
}

/** Makes one modern request by hand. */
async function post(
  address: string,
  method: string,
  params: JsonObject,
  headers: Record<string, string> = {},
): Promise<{ status: number; code: unknown }> {
  const name = params["name"];
  const response = await fetch(address, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": method,
      ...(typeof name === "string" ? { "mcp-name": name } : undefined),
      ...headers,
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method,
      params: { ...params, _meta: { [meta.protocolVersion]: "2026-07-28", [meta.clientCapabilities]: {} } },
    }),
  });
  const body = (await response.json()) as { error?: { code: number } };
  return { status: response.status, code: body.error?.code };
}

const call = (address: string, args: JsonObject, headers: Record<string, string> = {}): ReturnType<typeof post> =>
  post(address, "tools/call", { name: "deploy", arguments: args }, headers);

it("refuses a call whose header does not say what its argument says", async () => {
  const address = await served(regional());
  const refused = { status: 400, code: -32020 };
  expect(await call(address, { region: "eu" }, { "mcp-param-region": "eu" })).toEqual({ status: 200, code: undefined });
  expect(await call(address, { region: "eu" }, { "mcp-param-region": "us" })).toEqual(refused);
  expect(await call(address, { region: "eu" })).toEqual(refused);
  expect(await call(address, {}, { "mcp-param-region": "eu" })).toEqual(refused);
  expect(await call(address, { region: null }, { "mcp-param-region": "eu" })).toEqual(refused);
  expect(await call(address, { region: "é" }, { "mcp-param-region": "=?base64?w6k=?=" })).toEqual({ status: 200, code: undefined });
  expect(await call(address, { region: "é" }, { "mcp-param-region": "=?base64?w6k?=" })).toEqual(refused);
  expect(await call(address, { region: "eu", count: 42 }, { "mcp-param-region": "eu", "mcp-param-count": "42.0" })).toEqual({
    status: 200,
    code: undefined,
  });
});

it("holds a call without headers to what a list has told", async () => {
  const address = await served(regional());
  expect((await call(address, { region: "eu" })).status).toBe(200);
  await post(address, "tools/list", {});
  expect(await call(address, { region: "eu" })).toEqual({ status: 400, code: -32020 });
});

it("ignores headers that mirror no argument", async () => {
  const address = await served(regional());
  expect((await post(address, "tools/call", { name: "plain" }, { "mcp-param-region": "eu" })).status).toBe(200);
  expect(await post(address, "tools/call", { name: "none" }, { "mcp-param-region": "eu" })).toEqual({ status: 200, code: -32602 });
});

it("mirrors arguments once the tool was listed, and lists by itself when it was not", async () => {
  let listings = 0;
  const address = await served(
    createServer({ name: "s", version: "1" }).tools({
      *list() {
        listings++;
        yield { name: "deploy", inputSchema: region };
      },
      call: (_name, args, ctx) => JSON.stringify([args["region"], ctx.metadata["mcp-param-region"] ?? null]),
    }),
  );
  const listed = await dialed(address);
  await listed.listTools();
  const text = async (client: McpClient, where: unknown): Promise<unknown> =>
    JSON.parse(String((await client.callTool("deploy", { region: where })).content[0]?.["text"]));
  expect(await text(listed, "eu")).toEqual(["eu", "eu"]);
  expect(await text(listed, "\n")).toEqual(["\n", "=?base64?Cg==?="]);
  expect(await text(listed, null)).toEqual([null, null]);
  expect(listings).toBe(1);
  const fresh = await dialed(address);
  expect(await text(fresh, "us")).toEqual(["us", "us"]);
  expect(listings).toBe(2);
});

it("leaves out tools whose annotations are wrong, and says so", async () => {
  const faults: Fault[] = [];
  const wrong = { type: "object", properties: { a: { type: "number", "x-mcp-header": "A" } } };
  const address = await served(regional().tool("wrong", { input: wrong }, () => "never"));
  const client = await dialed(address, faults);
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["plain", "deploy"]);
  expect(faults.map(({ message }) => message)).toEqual([expect.stringContaining("wrong")]);
});

/** A server that refuses the headers of every call. */
async function refusing(seen: IncomingHttpHeaders[]): Promise<string> {
  const host = createHttp((request, response) => {
    let text = "";
    request.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
    });
    request.on("end", () => {
      const { id, method } = JSON.parse(text) as { id: number; method: string };
      if (method === "tools/call") seen.push(request.headers);
      const result =
        method === "tools/list"
          ? { tools: [{ name: "deploy", inputSchema: region }] }
          : { supportedVersions: ["2026-07-28"], capabilities: { tools: {} } };
      const answer = method === "tools/call" ? { error: { code: -32020, message: "no" } } : { result };
      response.writeHead(method === "tools/call" ? 400 : 200, { "content-type": "application/json" });
      response.end(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
    });
  });
  await new Promise<void>((resolve) => host.listen(0, "127.0.0.1", resolve));
  closing.push(() => {
    host.closeAllConnections();
    host.close();
  });
  return `http://127.0.0.1:${(host.address() as AddressInfo).port}/mcp`;
}

it("calls a second time only with other headers, and not a third time", async () => {
  const seen: IncomingHttpHeaders[] = [];
  const client = await dialed(await refusing(seen));
  await expect(client.callTool("deploy", { region: "eu" })).rejects.toMatchObject({ code: "header-mismatch", rpcCode: -32020 });
  expect(seen.map((headers) => headers["mcp-param-region"])).toEqual([undefined, "eu"]);
  await expect(client.callTool("deploy", { region: "eu" })).rejects.toMatchObject({ code: "header-mismatch" });
  expect(seen).toHaveLength(3);
});
