import { createPrivateKey } from "node:crypto";
import { writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { connect } from "../../src/api/index.js";
import { anywire, everything, run, scratch, start } from "../cli/support.js";
import { authority } from "../fixtures/certificates.js";
import { AuthorizationServer } from "../oauth/fixture/authorization-server.js";
import { type Protected, protectedServer } from "../oauth/fixture/protected-server.js";
import { overHttp, startBridge, textOf } from "./support.js";

const anyPort = ["--listen", "any://127.0.0.1:0"] as const;
const echo = { name: "echo", arguments: { a: 1 } };

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => probe.once("listening", resolve));
  const { port } = probe.address() as { port: number };
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

describe("a bridge to a server that answers 401", () => {
  let issuer: AuthorizationServer;
  let server: Protected;
  let env: Record<string, string>;
  beforeEach(async () => {
    issuer = await AuthorizationServer.start();
    server = await protectedServer(issuer);
    env = { XDG_CONFIG_HOME: scratch(), CLIENT_SECRET: "s3cret" };
  });
  afterEach(async () => {
    await server[Symbol.asyncDispose]();
    await issuer[Symbol.asyncDispose]();
  });

  it("signs in with a client that is known, on the port that it is known by, and keeps the token from its clients", async () => {
    const port = await freePort();
    issuer.clients.set("known", { redirects: [`http://127.0.0.1:${port}/callback`] });
    const args = ["bridge", ...anyPort, "--callback-port", String(port), "--client-id", "known", server.address];
    const running = start(process.execPath, [anywire, ...args], { env });
    let said = "";
    running.child.stderr.on("data", (text: string) => {
      said += text;
      const [, url] = /To sign in, open (\S+)\n/.exec(said) ?? [];
      if (url === undefined) return;
      said = "";
      void fetch(url);
    });
    let out = "";
    running.child.stdout.on("data", (text: string) => {
      out += text;
    });
    await running.shows(/is now at\n( {2}.+\n)+/);
    const [, url = ""] = /Streamable HTTP +(\S+)/.exec(out) ?? [];
    expect(await textOf((await overHttp(url)).callTool(echo))).toBe('{"a":1}');
    expect(issuer.count("authorize")).toBe(1);
    expect(issuer.seen.filter((entry) => entry.startsWith("register"))).toEqual([]);
    running.child.kill("SIGTERM");
    const { stdout, stderr } = await running.ended;
    for (const token of [...issuer.access.keys(), ...issuer.refresh.keys()]) expect(`${stdout}${stderr}`).not.toContain(token);
  });

  it("comes back to the URL that is registered for mcp-remote, in its place", async () => {
    const port = await freePort();
    const info = { client_id: "known", client_secret: "s3cret" };
    issuer.clients.set("known", { secret: "s3cret", redirects: [`http://localhost:${port}/oauth/callback`] });
    const args = ["bridge", "--as", "mcp-remote", server.address, String(port), "--static-oauth-client-info", JSON.stringify(info)];
    const client = new Client({ name: "sdk", version: "0" });
    const transport = new StdioClientTransport({ command: process.execPath, args: [anywire, ...args], env, stderr: "pipe" });
    transport.stderr?.on("data", (text: Buffer) => {
      const [, url] = /To sign in, open (\S+)\n/.exec(text.toString()) ?? [];
      if (url !== undefined) void fetch(url);
    });
    await client.connect(transport);
    onTestFinished(() => client.close());
    expect(await textOf(client.callTool(echo))).toBe('{"a":1}');
    expect(issuer.count("authorize")).toBe(1);
  });

  it("signs in as itself, without anybody", async () => {
    issuer.clients.set("program", { secret: "s3cret", redirects: [] });
    const client = ["--client-id", "program", "--client-secret-env", "CLIENT_SECRET", "--client-credentials"];
    const bridge = await startBridge([...anyPort, ...client, server.address], env);
    expect(await textOf((await overHttp(bridge.at("Streamable HTTP"))).callTool(echo))).toBe('{"a":1}');
    expect(issuer.count("authorize")).toBe(0);
  });

  it.each(["modern", "legacy"])("gets a fresh token when the server takes the old one no more, in the same %s session", async (era) => {
    issuer.clients.set("program", { secret: "s3cret", redirects: [] });
    const client = ["--client-id", "program", "--client-secret-env", "CLIENT_SECRET", "--client-credentials"];
    const bridge = await startBridge([...anyPort, ...client, "--era", era, "--sessions", "shared", server.address], env);
    const sdk = await overHttp(bridge.at("Streamable HTTP"));
    expect(await textOf(sdk.callTool(echo))).toBe('{"a":1}');
    const before = issuer.count("token");
    issuer.access.clear();
    const calls = Array.from({ length: 8 }, () => textOf(sdk.callTool(echo)));
    expect(await Promise.all(calls)).toEqual(calls.map(() => '{"a":1}'));
    expect(issuer.count("token") - before).toBe(1);
    const metrics = await (await fetch(new URL("/metrics", bridge.at("Streamable HTTP")))).text();
    expect(metrics).toContain("anywire_upstream_restarts_total 0");
  });
});

describe("TLS", () => {
  it("is on the same port, for every wire, and asks for certificates if it is told to", async () => {
    const folder = scratch();
    const file = (name: string, text: string): string => {
      const path = join(folder, name);
      writeFileSync(path, text);
      return path;
    };
    const ca = authority();
    const shown = ca.issue("127.0.0.1");
    const own = ca.issue("ada");
    const [cert, key, root] = [file("cert", shown.cert), file("key", shown.key), file("ca", ca.cert)];
    const tls = ["--tls-cert", cert, "--tls-key", key, "--tls-ca", root];
    const bridge = await startBridge([...anyPort, ...tls, "--demo"]);
    for (const title of ["Streamable HTTP", "WebSocket", "gRPC", "lines of JSON"]) {
      const address = bridge.at(title);
      expect(address).toMatch(/^(https|wss|grpcs|tls):/);
      await using client = await connect(address, { tls: { ca: ca.cert, cert: own.cert, key: own.key } });
      expect((await client.callTool("echo", { text: "hi" })).content).toEqual([{ type: "text", text: "hi" }]);
      await expect(connect(address, { tls: { ca: ca.cert } }).then((opened) => opened.ping())).rejects.toThrow();
    }
    // The tour of the demo has no certificate, and the bridge goes on.
    await bridge.shows("the tour ends here");
    bridge.child.kill("SIGTERM");
    expect((await bridge.ended).code).toBe(0);
  });

  it("needs no address, and wrong files are told in one line", async () => {
    const folder = scratch();
    const ca = authority();
    const [shown, other] = [ca.issue("127.0.0.1"), ca.issue("127.0.0.1")];
    const locked = createPrivateKey(shown.key).export({ type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase: "secret" });
    const texts = { cert: shown.cert, key: shown.key, other: other.key, junk: "junk", locked: String(locked) };
    for (const [name, text] of Object.entries(texts)) writeFileSync(join(folder, name), text);
    const tls = (cert: string, key: string): string[] => ["--tls-cert", join(folder, cert), "--tls-key", join(folder, key)];
    const bridge = await startBridge([...tls("cert", "key"), "--snippet", "none", ...everything]);
    await using client = await connect(bridge.at("Streamable HTTP"), { tls: { ca: ca.cert } });
    expect((await client.callTool("echo", { message: "hi" })).content).toEqual([{ type: "text", text: "Echo: hi" }]);
    for (const [args, part] of [
      [[...anyPort, ...tls("cert", "other")], "the key belongs to another certificate"],
      [[...anyPort, ...tls("junk", "key")], "the TLS certificate cannot be used: there is no certificate in PEM in it"],
      [[...anyPort, ...tls("key", "cert")], "the TLS key cannot be used: there is no private key in PEM in it"],
      [[...anyPort, ...tls("cert", "locked")], "the key is encrypted; give one without a passphrase"],
      [
        [...anyPort, ...tls("cert", "key"), "--tls-ca", join(folder, "key")],
        "the TLS CA cannot be used: there is no certificate in PEM in it",
      ],
      [["--listen", "any://0.0.0.0:0", ...tls("cert", "key")], "pass --api-keys, --tls-ca or --trusted-user, or --insecure"],
      [["--listen", "http://127.0.0.1:0", ...tls("cert", "key")], "listen on https://"],
    ] as const) {
      const { code, stderr } = await run(["bridge", ...args, ...everything]);
      const told = stderr.split("\n").filter((line) => line.startsWith("anywire: "));
      expect([code, told]).toEqual([2, [expect.stringContaining(part)]]);
    }
  });
});
