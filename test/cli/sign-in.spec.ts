import { existsSync, readFileSync, statSync } from "node:fs";
import { createServer as createHttp } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { createServer, type Listener, type Service, serve } from "../../src/api/index.js";
import { nodeHandler } from "../../src/wires/http/index.js";
import { AuthorizationServer } from "../oauth/fixture/authorization-server.js";
import { type Protected, protectedServer } from "../oauth/fixture/protected-server.js";
import { anywire, loaded, type Outcome, type RunOptions, run, scratch, start } from "./support.js";

const echo = ["call", "echo", "a=1"];
const echoed = '{"a":1}\n';

describe("--header and --token-env", () => {
  const seen: unknown[] = [];
  const recorded: Service = (() => {
    const inner = createServer({ name: "recorded", version: "1" });
    return {
      call(request, context) {
        seen.push(context.metadata);
        return inner.call(request, context);
      },
      notify: (notification, context) => inner.notify(notification, context),
    };
  })();
  beforeEach(() => void seen.splice(0));

  for (const scheme of ["http", "sse+http", "ws"]) {
    it(`go with every request: ${scheme}`, async () => {
      const tokens: string[] = [];
      const verify = (token: string): { id: string } => {
        tokens.push(token);
        return { id: "me" };
      };
      await using listener = await serve(recorded, `${scheme}://127.0.0.1:0/${scheme === "sse+http" ? "sse" : "mcp"}`, {
        auth: { verify },
      });
      const options = ["--header", "X-Team: docs", "--header", "x-one:1", "--header", "X-One: 2", "--token-env", "THE_TOKEN"];
      const { code, stderr } = await run(["ping", "-vv", ...options, listener.address], { env: { THE_TOKEN: "s3cr3t" } });
      expect([code, stderr.includes("s3cr3t")]).toEqual([0, false]);
      expect(seen.length).toBeGreaterThan(0);
      for (const metadata of seen) expect(metadata).toMatchObject({ "x-team": "docs", "x-one": "1, 2" });
      // The credential itself is for the gate alone.
      for (const metadata of seen) expect(metadata).not.toHaveProperty("authorization");
      expect(new Set(tokens)).toEqual(new Set(["s3cr3t"]));
    });
  }

  it.each([
    [["--header", "no colon"], "--header takes a name, a colon and a value: --header 'X-Team: docs'"],
    [["--header", "two words: x"], "--header takes a name, a colon and a value: --header 'X-Team: docs'"],
    [["--header", "x-secret: hu\nsh"], "--header x-secret: the value has a character that no header has"],
    [["--token-env", "NO_SUCH_VARIABLE"], "--token-env NO_SUCH_VARIABLE: no such variable is set; it takes the name of one, not the token"],
    [["--token-env", "eyJhbGciOi.J9"], "--token-env: no such variable is set; it takes the name of one, not the token"],
    [["--token-env", "SPACED"], "--token-env SPACED: its value has a character that no token has, such as a space"],
    [
      ["--token-env", "THE_TOKEN", "--header", "authorization: x"],
      "--token-env and --header Authorization both say who calls; give one of them",
    ],
  ])("%j is a mistake", async (options, says) => {
    const env = { THE_TOKEN: "s3cr3t", SPACED: "a b" };
    expect(await run(["ping", ...options, "http://127.0.0.1:9/mcp"], { env })).toEqual({
      code: 2,
      stdout: "",
      stderr: `anywire: ${says}\n`,
    });
  });

  it("are not for a command that is started", async () => {
    const { code, stderr } = await run(["ping", "--header", "a: b", "--", "true"]);
    expect([code, stderr]).toEqual([2, "anywire: --header and --token-env are for a URL, not for a command that is started\n"]);
  });
});

describe("a server that answers 401", () => {
  let issuer: AuthorizationServer;
  let server: Protected;
  let home: string;
  beforeEach(async () => {
    issuer = await AuthorizationServer.start();
    server = await protectedServer(issuer);
    home = scratch();
  });
  afterEach(async () => {
    await server[Symbol.asyncDispose]();
    await issuer[Symbol.asyncDispose]();
  });
  const env = (more: Readonly<Record<string, string>> = {}): RunOptions => ({ env: { XDG_CONFIG_HOME: home, ...more } });
  const kept = (): string => join(home, "anywire", "tokens.json");

  /** Runs the command while somebody goes where it says. */
  async function signedIn(words: readonly string[]): Promise<Outcome> {
    const running = start(process.execPath, [anywire, ...words], env());
    let all = "";
    running.child.stderr.on("data", (text: string) => {
      all += text;
      const [line, url] = /To sign in, open (\S+)\n/.exec(all) ?? [];
      if (line === undefined || url === undefined) return;
      all = all.replace(line, "");
      void fetch(url);
    });
    running.child.stdin.end();
    return running.ended;
  }

  for (const era of ["auto", "legacy", "modern"]) {
    it(`is signed in to, once: ${era}`, async () => {
      const words = [...echo, "-vv", "--era", era, server.address];
      const first = await signedIn(words);
      expect(first).toMatchObject({ code: 0, stdout: echoed });
      expect(issuer.count("authorize")).toBe(1);
      expect(statSync(kept()).mode & 0o777).toBe(0o600);
      expect(Object.keys((JSON.parse(readFileSync(kept(), "utf8")) as { servers: object }).servers)).toEqual([server.address]);
      const second = await run(words, env());
      expect(second).toMatchObject({ code: 0, stdout: echoed });
      expect(issuer.count("authorize")).toBe(1);
      for (const token of [...issuer.access.keys(), ...issuer.refresh.keys()])
        expect(`${first.stderr}${second.stderr}`).not.toContain(token);
    });
  }

  for (const scheme of ["sse+http", "ws"]) {
    it(`is signed in to over ${scheme} too, and forgotten`, async () => {
      const echoing = createServer({ name: "guarded", version: "1" }).tool("echo", {}, (input) => JSON.stringify(input));
      const resource = (): string => listener.address.replace(/^(sse\+|ws)(?=http|:)/, (found) => (found === "ws" ? "http" : ""));
      await using listener: Listener = await serve(echoing, `${scheme}://127.0.0.1:0`, {
        auth: {
          verify: (token: string) => issuer.verify(token, resource()),
          scopes: ["mcp"],
          get metadata() {
            return { resource: resource(), authorization_servers: [issuer.issuer] };
          },
        },
      });
      const outcome = await signedIn(["call", "echo", "a=1", listener.address]);
      expect(outcome).toMatchObject({ code: 0 });
      expect(outcome.stdout).toContain('"a":');
      expect((await run(["logout", listener.address], env())).stdout).toBe(`forgot the tokens for ${listener.address}\n`);
    });
  }

  it("gets a new token by the refresh token, without anybody", async () => {
    await signedIn([...echo, server.address]);
    issuer.access.clear();
    expect(await run([...echo, server.address], env())).toEqual({ code: 0, stdout: echoed, stderr: "" });
    expect(issuer.count("authorize")).toBe(1);
    expect(issuer.count("token refresh_token")).toBe(1);
  });

  it("is forgotten by logout", async () => {
    await signedIn([...echo, server.address]);
    expect(await run(["logout", server.address], env())).toEqual({
      code: 0,
      stdout: `forgot the tokens for ${server.address}\n`,
      stderr: "",
    });
    expect(readFileSync(kept(), "utf8")).not.toContain("access_token");
    expect((await run(["logout", server.address], env())).stdout).toBe(`there are no tokens for ${server.address}\n`);
    await signedIn([...echo, server.address]);
    expect(issuer.count("authorize")).toBe(2);
    expect(await run(["logout", "example.com"], env())).toMatchObject({ code: 2, stdout: "" });
  });

  it("may do so in the middle: the call waits for the sign-in, also with tokens of before that are refused", async () => {
    const inner = createServer({ name: "half open", version: "1" }).tool("echo", {}, (input) => JSON.stringify(input));
    const open = nodeHandler(inner);
    const address = (): string => `http://127.0.0.1:${(front.address() as AddressInfo).port}/mcp`;
    const shut = nodeHandler(inner, {
      auth: {
        verify: (token) => issuer.verify(token, address()),
        scopes: ["mcp"],
        get metadata() {
          return { resource: address(), authorization_servers: [issuer.issuer] };
        },
      },
    });
    const front = createHttp((request, response) =>
      (request.method === "GET" || request.headers["mcp-method"] === "tools/call" ? shut : open)(request, response),
    );
    await new Promise<void>((resolve) => front.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
      open.close();
      shut.close();
      front.closeAllConnections();
      front.close();
    });
    expect(await signedIn([...echo, address()])).toMatchObject({ code: 0, stdout: echoed });
    issuer.access.clear();
    issuer.refresh.clear();
    expect(await signedIn([...echo, address()])).toMatchObject({ code: 0, stdout: echoed });
    expect(issuer.count("authorize")).toBe(2);
    expect(await run([...echo, address()], env())).toMatchObject({ code: 0, stdout: echoed, stderr: "" });
  });

  it("that refuses a new token too is not signed in to twice", async () => {
    server.refuses = true;
    const { code, stderr } = await signedIn([...echo, server.address]);
    expect(code).toBe(4);
    expect(stderr).toContain(
      `anywire: cannot connect to ${server.address}: the server answered HTTP 401: the call needs valid credentials; give a valid token with --token-env`,
    );
    expect(issuer.count("authorize")).toBe(1);
  });

  it("ends the wait with --timeout where there is no terminal", async () => {
    const { code, stderr } = await run([...echo, "--timeout", "3s", server.address], env());
    expect(code).toBe(4);
    expect(stderr).toMatch(/^To sign in, open http:\S+\nanywire: .*the sign-in took too long\n$/);
  });

  it("gets the token of --token-env, of which a refusal is final, and nothing of OAuth is loaded", async () => {
    issuer.access.set("t0ken", { client: "somebody", scope: "mcp", resource: server.address });
    const words = [...echo, "--token-env", "THE_TOKEN", server.address];
    expect(await run(words, env({ THE_TOKEN: "t0ken" }))).toEqual({ code: 0, stdout: echoed, stderr: "" });
    const bad = await run(words, env({ THE_TOKEN: "wr0ng" }));
    expect(bad).toMatchObject({ code: 4, stdout: "" });
    expect(bad.stderr).not.toContain("wr0ng");
    expect(issuer.seen).toEqual([]);
    expect(existsSync(kept())).toBe(false);
    const files = await loaded(words, env({ THE_TOKEN: "t0ken" }));
    expect(files).toContain("dist/wires/http/http.js");
    expect(files.filter((file) => /dist\/oauth|@modelcontextprotocol/.test(file))).toEqual([]);
  });
});
