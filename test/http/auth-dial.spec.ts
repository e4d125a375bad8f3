import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { connect, type Listener, type McpClient, serve } from "../../src/api/index.js";
import { bearer, type HttpAuth, memoryStore, oauth, terminal } from "../../src/oauth/index.js";
import { AuthorizationServer } from "../oauth/fixture/authorization-server.js";
import { lab } from "./requests.js";

let issuer: AuthorizationServer;
beforeEach(async () => {
  issuer = await AuthorizationServer.start();
});
afterEach(() => issuer[Symbol.asyncDispose]());

const redirect = terminal({ open: false, print: (text) => void fetch(/https?:\S+/.exec(text)?.[0] ?? "") });

async function open(scheme: string): Promise<Listener> {
  let resource = "";
  const listener: Listener = await serve(lab().server, `${scheme}://127.0.0.1:0`, {
    auth: {
      verify: (token) => issuer.verify(token, resource),
      scopes: ["mcp"],
      get metadata() {
        return { resource, authorization_servers: [issuer.issuer] };
      },
    },
  });
  resource = listener.address.replace(/^sse\+/, "").replace(/^ws/, "http");
  return listener;
}

const echo = async (client: McpClient): Promise<unknown> => (await client.callTool("echo", { a: 1 })).structuredContent;

describe.each(["sse+http", "ws"])("signing in over %s", (scheme) => {
  it("begins with a 401 and ends with a call that succeeds", async () => {
    await using listener = await open(scheme);
    await using client = await connect(listener.address, { auth: oauth({ redirect, store: memoryStore() }) });
    expect(await echo(client)).toEqual({ a: 1 });
    expect([issuer.count("authorize"), issuer.count("token authorization_code")]).toEqual([1, 1]);
  });

  it("is not needed while the kept token is good", async () => {
    await using listener = await open(scheme);
    const store = memoryStore();
    await (await connect(listener.address, { auth: oauth({ redirect, store }) })).close();
    await using client = await connect(listener.address, { auth: oauth({ redirect, store }) });
    expect(await echo(client)).toEqual({ a: 1 });
    expect(issuer.count("token")).toBe(1);
  });

  it("is for a program what it is for a person", async () => {
    issuer.clients.set("program", { secret: "s3cret", redirects: [] });
    await using listener = await open(scheme);
    await using client = await connect(listener.address, {
      auth: oauth({ credentials: { id: "program", secret: "s3cret", issuer: issuer.issuer } }),
    });
    expect(await echo(client)).toEqual({ a: 1 });
  });

  it("a token that is refused ends the dialing, and so does giving it up", async () => {
    await using listener = await open(scheme);
    await expect(connect(listener.address, { auth: bearer("wrong") })).rejects.toMatchObject({ code: "unauthenticated" });
    await expect(connect(listener.address)).rejects.toMatchObject({ code: "unauthenticated" });
    const abort = new AbortController();
    const slow: HttpAuth = {
      headers: async () => ({}),
      challenged: ({ signal }) =>
        new Promise((_resolve, reject) => {
          signal?.addEventListener("abort", () => reject(new Error("given up")));
          abort.abort();
        }),
    };
    await expect(connect(listener.address, { auth: slow, signal: abort.signal })).rejects.toMatchObject({ name: "Fault" });
  });

  it("a server that refuses everything does not keep it going", async () => {
    await using listener = await open(scheme);
    let asked = 0;
    const eager: HttpAuth = {
      headers: async () => ({ authorization: "Bearer wrong" }),
      challenged: async () => ++asked > 0,
    };
    await expect(connect(listener.address, { auth: eager })).rejects.toMatchObject({ code: "unauthenticated" });
    expect(asked).toBe(3);
  });
});

it("a session of HTTP+SSE outlives its token", async () => {
  await using listener = await open("sse+http");
  await using client = await connect(listener.address, { auth: oauth({ redirect, store: memoryStore() }) });
  issuer.access.clear();
  expect(await Promise.all([echo(client), echo(client)])).toEqual([{ a: 1 }, { a: 1 }]);
  expect(issuer.count("token refresh_token")).toBe(1);
});

it("an address that turns out to be one of HTTP+SSE is signed in to once", async () => {
  await using listener = await open("sse+http");
  await using client = await connect(listener.address.replace("sse+", ""), { auth: oauth({ redirect, store: memoryStore() }) });
  expect(await echo(client)).toEqual({ a: 1 });
  expect(issuer.count("authorize")).toBe(1);
});

it("closing a session does not wait for credentials that do not come", async () => {
  await using listener = await serve(lab().server, "http://127.0.0.1:0");
  let hangs = false;
  const auth: HttpAuth = {
    headers: () => (hangs ? new Promise(() => {}) : Promise.resolve({})),
    challenged: async () => false,
  };
  const client = await connect(listener.address, { era: "legacy", auth });
  hangs = true;
  await client.close();
}, 5_000);
