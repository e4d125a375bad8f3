import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { connect, Fault, type McpClient } from "../../src/api/index.js";
import { callback } from "../../src/oauth/callback.js";
import {
  forget,
  memoryStore,
  type OAuthOptions,
  oauth,
  type Redirect,
  type TokenStore,
  terminal,
  tokenStore,
} from "../../src/oauth/index.js";
import { AuthorizationServer } from "./fixture/authorization-server.js";
import { type Protected, protectedServer } from "./fixture/protected-server.js";

let issuer: AuthorizationServer;
let server: Protected;
let store: TokenStore;
/** The statuses of the pages that a browser ended on. */
let pages: number[];

beforeEach(async () => {
  issuer = await AuthorizationServer.start();
  server = await protectedServer(issuer);
  store = memoryStore();
  pages = [];
});
afterEach(async () => {
  await server[Symbol.asyncDispose]();
  await issuer[Symbol.asyncDispose]();
});

const browse = (text: string): Promise<Response> => fetch(/https?:\S+/.exec(text)?.[0] ?? "");
/** A browser that goes where the terminal says. */
const redirect = terminal({
  open: false,
  print: (text) => {
    const mine = pages;
    void browse(text).then((page) => mine.push(page.status));
  },
});

function open(options: OAuthOptions = {}, era: "auto" | "legacy" | "modern" = "auto"): Promise<McpClient> {
  return connect(server.address, { era, auth: oauth({ redirect, store, ...options }) });
}

async function echo(client: McpClient): Promise<unknown> {
  const result = await client.callTool("echo", { a: 1 });
  return result.content[0];
}
const echoed = { type: "text", text: '{"a":1}' };

async function faultOf(promise: Promise<unknown>): Promise<Fault> {
  const fault = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(fault).toBeInstanceOf(Fault);
  return fault as Fault;
}

/** The first line of the answer to a request line that no client would let one send. */
function raw(port: number, target: string): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(port, "127.0.0.1", () => socket.write(`GET ${target} HTTP/1.1\r\nHost: x\r\n\r\n`));
    socket.once("data", (chunk) => {
      socket.destroy();
      resolve(chunk.toString("latin1").split("\r\n")[0]);
    });
    socket.once("error", reject);
  });
}

describe("signing in", () => {
  for (const era of ["legacy", "modern", "auto"] as const) {
    it(`begins with a 401 and ends with a call that succeeds: ${era}`, async () => {
      await using client = await open({}, era);
      expect(await echo(client)).toEqual(echoed);
      expect(issuer.seen).toEqual([
        "metadata",
        expect.stringMatching(/^register http:\/\/127\.0\.0\.1:\d+\/callback$/),
        "authorize mcp",
        "token authorization_code",
      ]);
      expect(pages).toEqual([200]);
    });
  }

  it("happens once for calls that are refused together", async () => {
    await using client = await open();
    issuer.access.clear();
    await Promise.all(Array.from({ length: 8 }, () => echo(client)));
    expect(issuer.count("token refresh_token")).toBe(1);
  });

  it("is not needed while the kept token is good", async () => {
    await (await open()).close();
    await using client = await open();
    expect(await echo(client)).toEqual(echoed);
    expect(issuer.count("authorize")).toBe(1);
  });

  it("refreshes a token that has expired, and keeps what it got", async () => {
    await using client = await open();
    const first = (await store.get(server.address))?.tokens;
    issuer.access.clear();
    expect(await echo(client)).toEqual(echoed);
    const second = (await store.get(server.address))?.tokens;
    expect(second?.refresh_token).not.toBe(first?.refresh_token);
    expect(issuer.count("authorize")).toBe(1);
    issuer.access.clear();
    expect(await echo(client)).toEqual(echoed);
  });

  it("asks the person again when the refresh token is not taken any more, with the registration it has", async () => {
    await using client = await open();
    issuer.access.clear();
    issuer.refresh.clear();
    expect(await echo(client)).toEqual(echoed);
    expect(issuer.count("authorize")).toBe(2);
    expect(issuer.count("register")).toBe(1);
  });

  it("registers anew when the authorization server has forgotten the client, or the store has", async () => {
    await using client = await open();
    issuer.access.clear();
    issuer.clients.clear();
    expect(await echo(client)).toEqual(echoed);
    expect(issuer.count("register")).toBe(2);
    issuer.access.clear();
    const { tokens } = (await store.get(server.address)) ?? {};
    await store.put(server.address, { issuer: issuer.issuer, ...(tokens === undefined ? undefined : { tokens }) });
    expect(await echo(client)).toEqual(echoed);
    expect(issuer.count("register")).toBe(3);
  });

  it("goes to the authorization server that a server has moved to, with a registration of its own", async () => {
    await using moved = await AuthorizationServer.start();
    await using client = await open();
    server.issuer = moved;
    expect(await echo(client)).toEqual(echoed);
    expect(moved.seen).toEqual([
      "metadata",
      // Looked at for the refresh, which is not to be had there, and again for the sign-in.
      "metadata",
      expect.stringMatching(/^register /),
      "authorize mcp",
      "token authorization_code",
    ]);
    expect((await store.get(server.address, issuer.issuer))?.tokens).toBeDefined();
    expect((await store.get(server.address))?.issuer).toBe(moved.issuer);
  });

  it("row 36: does not look for an authorization server at a metadata address of a cloud", async () => {
    server.issuer = { issuer: "http://169.254.169.254", verify: () => undefined };
    expect(await faultOf(open())).toMatchObject({ code: "unauthenticated", data: { reason: "refused-address" } });
  });

  it("uses a client that was registered beforehand, at its own issuer alone", async () => {
    const free = await redirect.open([]);
    await free[Symbol.asyncDispose]();
    issuer.clients.set("known", { redirects: [free.redirectUrl] });
    const port = Number(new URL(free.redirectUrl).port);
    const known = terminal({ open: false, port, print: (text) => void browse(text) });
    await (await open({ redirect: known, client: { id: "known", issuer: issuer.issuer } })).close();
    expect(issuer.count("register")).toBe(0);
    await store.forget(server.address);
    const elsewhere = open({ redirect: known, client: { id: "known", issuer: "https://other.example" } });
    expect((await faultOf(elsewhere)).message).toContain("Authorization server mismatch");
  });

  it("steps up when a call needs more scopes, and keeps those it had", async () => {
    await using client = await open();
    server.scopes = ["mcp", "files:write"];
    expect(await echo(client)).toEqual(echoed);
    expect(issuer.seen).toContain("authorize mcp files:write");
    expect(issuer.count("authorize")).toBe(2);
    expect(issuer.count("token refresh_token")).toBe(0);
  });

  it("does not ask twice for a scope that was not granted", async () => {
    await using client = await open();
    issuer.does.withheld = ["admin"];
    server.scopes = ["mcp", "admin"];
    expect((await faultOf(echo(client))).code).toBe("denied");
    expect((await faultOf(echo(client))).code).toBe("denied");
    expect(issuer.count("authorize")).toBe(2);
  });

  it("ends with unauthenticated at a server that refuses every token", async () => {
    server.refuses = true;
    expect((await faultOf(open())).code).toBe("unauthenticated");
    expect(issuer.count("authorize")).toBe(1);
    expect(issuer.count("token")).toBe(1);
  });

  it("waits for a person as long as it is told", async () => {
    const fault = await faultOf(open({ redirect: terminal({ open: false, print: () => {} }), patienceMs: 50 }));
    expect(fault).toMatchObject({ code: "unauthenticated", data: { reason: "timeout" } });
  });

  it("is given up with the dial that it was for", async () => {
    const abort = new AbortController();
    const shown = new Promise<string>((resolve) => {
      const auth = oauth({ store, redirect: terminal({ open: false, print: resolve }) });
      connect(server.address, { auth, signal: abort.signal }).catch(() => {});
    });
    const back = new URL(/https?:\S+/.exec(await shown)?.[0] ?? "").searchParams.get("redirect_uri") ?? "";
    abort.abort();
    await expect
      .poll(() =>
        fetch(back).then(
          () => "open",
          () => "closed",
        ),
      )
      .toBe("closed");
  });
});

describe("what comes back from the browser", () => {
  it("row 37: with the iss of another issuer costs the code: it is never sent", async () => {
    issuer.does.iss = "http://127.0.0.1:1/evil";
    const fault = await faultOf(open());
    expect(fault.code).toBe("unauthenticated");
    expect(fault.message).toContain("Issuer mismatch");
    expect(issuer.count("token")).toBe(0);
  });

  it("needs an iss where the authorization server promises one", async () => {
    issuer.does.iss = null;
    expect((await faultOf(open())).code).toBe("unauthenticated");
    expect(issuer.count("token")).toBe(0);
  });

  it("with another state is not the answer that is waited for", async () => {
    issuer.does.state = "forged";
    const fault = await faultOf(open({ patienceMs: 300 }));
    expect(fault).toMatchObject({ code: "unauthenticated", data: { reason: "timeout" } });
    expect(pages).toEqual([400]);
    expect(issuer.count("token")).toBe(0);
  });

  it("may be a refusal", async () => {
    issuer.does.error = "access_denied";
    const fault = await faultOf(open());
    expect(fault).toMatchObject({ code: "unauthenticated", data: { reason: "refused" } });
    expect(fault.message).toContain("access_denied");
  });

  it.each(["javascript:alert(1)", "file:///etc/passwd", "data:text/html,x", "vscode://open"])(
    "row 35: is not waited for at %s, and no redirect gets to see it",
    async (page) => {
      issuer.does.metadata = { authorization_endpoint: page };
      const shown: string[] = [];
      const custom: Redirect = {
        open: async () => ({
          redirectUrl: "http://127.0.0.1:9/callback",
          go: async (url) => {
            shown.push(url.href);
            return new URLSearchParams();
          },
          async [Symbol.asyncDispose]() {},
        }),
      };
      for (const each of [custom, redirect]) {
        const fault = await faultOf(open({ redirect: each }));
        expect(fault.code).toBe("unauthenticated");
      }
      expect(shown).toEqual([]);
      expect(pages).toEqual([]);
    },
  );

  it("is waited for whatever else is sent to where it is expected", async () => {
    const back = await callback(new URL("http://127.0.0.1/callback"), [0]);
    const { port } = new URL(back.url);
    const answered = back.answer("s", AbortSignal.timeout(10_000));
    for (const target of ["//", "///", "http://", "*", "/callback", "/%", "/callback?state=other", "//evil/callback?state=s&code=2"])
      expect([target, await raw(Number(port), target)]).toEqual([target, "HTTP/1.1 400 Bad Request"]);
    expect(await raw(Number(port), "/callback?state=s&code=1")).toBe("HTTP/1.1 200 OK");
    expect((await answered).get("code")).toBe("1");
    await back[Symbol.asyncDispose]();
  });
});

describe("the token file", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "oauth-tokens-"));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it("is for its owner's eyes, and what is forgotten is gone", async () => {
    const path = join(folder, "anywire/tokens.json");
    store = tokenStore(path);
    await (await open()).close();
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await stat(join(folder, "anywire"))).mode & 0o777).toBe(0o700);
    const token = (await tokenStore(path).get(server.address))?.tokens?.access_token ?? "none";
    expect(issuer.access.has(token)).toBe(true);
    expect(await forget(server.address, store)).toBe(true);
    expect(await forget(server.address, store)).toBe(false);
    expect(await readFile(path, "utf8")).not.toContain(token);
    await (await open()).close();
    expect(issuer.count("register")).toBe(2);
  });

  it("keeps what several write at once, and is not written over if it is something else", async () => {
    const path = join(folder, "tokens.json");
    const one = tokenStore(path);
    await Promise.all(Array.from({ length: 20 }, (_, at) => one.put(`https://${at}.example/mcp`, { issuer: "https://as.example" })));
    const kept = await Promise.all(Array.from({ length: 20 }, (_, at) => tokenStore(path).get(`https://${at}.example/mcp`)));
    expect(kept.every((entry) => entry?.issuer === "https://as.example")).toBe(true);
    const other = join(folder, "other.json");
    await writeFile(other, "[]");
    expect((await faultOf(tokenStore(other).put("https://a.example", { issuer: "x" }))).code).toBe("parse");
    expect(await readFile(other, "utf8")).toBe("[]");
  });
});
