import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { Agent, request as httpsRequest } from "node:https";
import { connect as connectTcp } from "node:net";
import { connect as connectTls, createServer as tlsServer } from "node:tls";
import { describe, expect, it, vi } from "vitest";
import { connect, type ServeOptions, serve } from "../../src/api/index.js";
import type { RefusalEvent } from "../../src/core/index.js";
import { checkListen, isLoopback } from "../../src/io/index.js";
import { authority } from "../fixtures/certificates.js";
import { json, lab, modern, modernHeaders, type Rpc } from "./requests.js";

const root = authority();
const tls = root.issue("localhost", "127.0.0.1");
const ca = root.cert;

async function open(scheme: string, options: ServeOptions = { tls }): Promise<{ address: string; port: number } & AsyncDisposable> {
  const listener = await serve(lab().server, `${scheme}://127.0.0.1:0`, options);
  const { address } = listener;
  return { address, port: Number(/:(\d+)\//.exec(address)?.[1]), [Symbol.asyncDispose]: () => listener.close() };
}

it.each(["https", "wss", "sse+https", "grpcs"])("%s to a server without TLS fails in plain words", async (scheme) => {
  await using at = await open("http", {});
  await expect(connect(`${scheme}://127.0.0.1:${at.port}`)).rejects.toMatchObject({
    code: "unavailable",
    message: expect.stringContaining("the server does not speak TLS"),
  });
});

it.each(["https", "wss", "sse+https"])("%s to a server whose certificate nobody vouches for says so", async (scheme) => {
  await using at = await open(scheme);
  await expect(connect(`${scheme}://localhost:${at.port}`)).rejects.toMatchObject({
    code: "unavailable",
    message: expect.stringContaining("its certificate is not signed by a trusted CA (ca adds one)"),
  });
});

describe.each(["https", "wss", "sse+https", "grpcs", "tls", "proto+tls", "proto+wss", "proto+grpcs"])(
  "%s to a server that requires a certificate",
  (scheme) => {
    it.each(["TLSv1.3", "TLSv1.2"] as const)("says so without one, in %s", async (maxVersion) => {
      const raw = tlsServer({ ...tls, ca, requestCert: true, maxVersion, ALPNProtocols: ["h2", "http/1.1"] });
      raw.on("tlsClientError", () => {}).listen(0, "127.0.0.1");
      await once(raw, "listening");
      const { port } = raw.address() as { port: number };
      await expect(connect(`${scheme}://127.0.0.1:${port}`, { tls: { ca } })).rejects.toMatchObject({
        code: "unavailable",
        message: expect.stringContaining("client certificate (cert and key give one)"),
      });
      raw.close();
    });
  },
);

describe.each(["https", "wss", "sse+https"])("%s", (scheme) => {
  it("is served to whoever trusts the certificate", async () => {
    await using at = await open(scheme);
    expect(at.address.startsWith(`${scheme}://127.0.0.1:`)).toBe(true);
    await using client = await connect(at.address, { tls: { ca } });
    expect((await client.callTool("echo", { a: 1 })).structuredContent).toEqual({ a: 1 });
    await using bytes = await connect(at.address, { tls: { ca: [Buffer.from(authority().cert), Buffer.from(ca)] } });
    expect((await bytes.listTools()).tools).toHaveLength(3);
  });

  it("is not dialed where the certificate is of nobody known, or for another name", async () => {
    await using at = await open(scheme);
    await expect(connect(at.address)).rejects.toMatchObject({ code: "unavailable" });
    await expect(connect(at.address, { tls: { ca: authority().cert } })).rejects.toMatchObject({ code: "unavailable" });
    await expect(connect(at.address, { tls: { ca, servername: "other.example" } })).rejects.toMatchObject({ code: "unavailable" });
    await using named = await open(scheme, { tls: root.issue("mcp.example") });
    await expect(connect(named.address, { tls: { ca } })).rejects.toMatchObject({ code: "unavailable" });
    await using client = await connect(named.address, { tls: { ca, servername: "mcp.example" } });
    expect((await client.listTools()).tools).toHaveLength(3);
  });

  it("lets in only clients with a certificate, where that is asked for", async () => {
    const clients = authority("Clients");
    await using at = await open(scheme, { tls: { ...tls, ca: clients.cert, requestClientCert: true } });
    await expect(connect(at.address, { tls: { ca } })).rejects.toMatchObject({ code: "unavailable" });
    await expect(connect(at.address, { tls: { ca, ...root.issue("stranger") } })).rejects.toMatchObject({ code: "unavailable" });
    await using client = await connect(at.address, { tls: { ca, ...clients.issue("friend") } });
    expect((await client.listTools()).tools).toHaveLength(3);
  });

  it("needs a key and a certificate that are some, and does not repeat them", async () => {
    const { server } = lab();
    await expect(serve(server, `${scheme}://127.0.0.1:0`)).rejects.toMatchObject({ code: "invalid-params" });
    await expect(serve(server, `${scheme.slice(0, -1)}://127.0.0.1:0`, { tls })).rejects.toMatchObject({ code: "invalid-params" });
    const wrong = await serve(server, `${scheme}://127.0.0.1:0`, { tls: { ...tls, key: "my secret key" } }).then(
      () => undefined,
      (fault: Error) => fault,
    );
    expect(wrong).toMatchObject({ code: "invalid-params" });
    expect(`${wrong?.message}${JSON.stringify(wrong)}`).not.toContain("secret");
    await expect(connect(`${scheme}://127.0.0.1:1`, { tls: { ca, cert: "none", key: "none" } })).rejects.toMatchObject({
      code: "invalid-params",
    });
  });
});

describe("a listener with TLS", () => {
  const body = modern(1, "tools/call", { name: "echo", arguments: { n: 1 } });

  it("speaks HTTP/2 and HTTP/1.1 on one port, by what was agreed on", async () => {
    await using at = await open("https");
    const session = connectHttp2(`https://127.0.0.1:${at.port}`, { ca });
    const stream = session.request({ ":method": "POST", ":path": "/mcp", ...modernHeaders(body) });
    stream.end(JSON.stringify(body));
    let two = "";
    for await (const chunk of stream) two += chunk;
    expect(session.alpnProtocol).toBe("h2");
    session.destroy();
    const one = await post(at.port);
    expect([JSON.parse(two) as Rpc, JSON.parse(one.text) as Rpc].map(({ result }) => result?.["structuredContent"])).toEqual([
      { n: 1 },
      { n: 1 },
    ]);
    expect([one.version, one.protocol]).toEqual(["1.1", "TLSv1.3"]);
  });

  it("tells its observer of a handshake that fails, and of nothing when a probe hangs up", async () => {
    const told: string[] = [];
    const observe = { refusal: ({ rule, fault }: RefusalEvent) => void told.push(`${rule}: ${fault.message}`) };
    await using at = await open("https", { tls: { ...tls, ca, requestClientCert: true }, observe });
    const probe = connectTcp(at.port, "127.0.0.1", () => probe.destroy());
    await once(probe, "close");
    for (const options of [{ ca }, { ca, maxVersion: "TLSv1.2" as const }]) {
      const failing = connectTls({ host: "127.0.0.1", port: at.port, ...options });
      await new Promise((resolve) => failing.once("error", resolve).resume());
    }
    const plain = connectTcp(at.port, "127.0.0.1", () => plain.write("GET / HTTP/1.1\r\n\r\n")).on("error", () => {});
    await new Promise((resolve) => plain.once("close", resolve).resume());
    await vi.waitFor(() => expect(told).toHaveLength(3));
    expect(told).toEqual([
      "denied: a TLS handshake failed: peer did not return a certificate",
      "denied: a TLS handshake failed: unsupported protocol",
      "denied: a TLS handshake failed: http request",
    ]);
  });

  it("takes no older TLS, and nothing that is none; neither disturbs it", async () => {
    await using at = await open("https", { tls, headersMs: 300 });
    const old = connectTls({ host: "127.0.0.1", port: at.port, ca, maxVersion: "TLSv1.2" });
    await expect(new Promise((_resolve, reject) => old.once("error", reject))).rejects.toThrow(/protocol version/i);
    for (const said of ["GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", ""]) {
      const plain = connectTcp(at.port, "127.0.0.1");
      plain.on("error", () => {});
      if (said !== "") plain.write(said);
      // One that says nothing is cut after `headersMs`.
      await new Promise((resolve) => plain.once("close", resolve).resume());
    }
    expect((await post(at.port)).status).toBe(200);
  });

  it("names its metadata by https", async () => {
    await using at = await open("https", { tls, auth: { verify: () => undefined, metadata: { authorization_servers: [] } } });
    const { status, challenge } = await post(at.port);
    expect([status, challenge]).toEqual([
      401,
      `Bearer resource_metadata="https://127.0.0.1:${at.port}/.well-known/oauth-protected-resource/mcp"`,
    ]);
  });

  function post(port: number): Promise<{ status: number; text: string; version: string; protocol: string; challenge: string }> {
    return new Promise((resolve, reject) => {
      const agent = new Agent({ ca });
      const request = httpsRequest({
        host: "127.0.0.1",
        port,
        path: "/mcp",
        method: "POST",
        agent,
        headers: { ...json, ...modernHeaders(body) },
      });
      request.once("error", reject);
      request.once("response", async (response) => {
        const protocol = (response.socket as unknown as { getProtocol(): string }).getProtocol();
        let text = "";
        for await (const chunk of response) text += chunk;
        agent.destroy();
        const challenge = String(response.headers["www-authenticate"]);
        resolve({ status: response.statusCode ?? 0, text, version: response.httpVersion, protocol, challenge });
      });
      request.end(JSON.stringify(body));
    });
  }
});

describe("a listener that others than this machine can reach", () => {
  it.each(["http", "ws", "sse+http"])("is refused without TLS: %s", async (scheme) => {
    for (const host of ["0.0.0.0", "[::]"])
      await expect(serve(lab().server, `${scheme}://${host}:0`)).rejects.toMatchObject({
        code: "invalid-params",
        data: { reason: "insecure" },
      });
  });

  it.each(["https", "wss", "sse+https", "grpcs", "tunnel+grpcs"])("is refused if it does not know who calls: %s", async (scheme) => {
    for (const host of ["0.0.0.0", "[::]"])
      await expect(serve(lab().server, `${scheme}://${host}:0`, { tls })).rejects.toMatchObject({
        code: "invalid-params",
        message: expect.stringMatching(/without authentication.*pass auth or tls\.requestClientCert, or insecure/),
        data: { reason: "anonymous" },
      });
    for (const options of [
      { tls, insecure: true },
      { tls, auth: { verify: () => undefined } },
      { tls: { ...tls, ca: tls.cert, requestClientCert: true } },
    ])
      await (await serve(lab().server, `${scheme}://0.0.0.0:0`, options)).close();
  });

  it("is allowed with it, or where somebody says that it is safe", () => {
    expect(["localhost", "127.0.0.1", "127.1.2.3", "::1", "[::1]"].filter((host) => !isLoopback(host))).toEqual([]);
    expect(["0.0.0.0", "::", "10.0.0.1", "example.com", "127.example.com", "128.0.0.1"].filter(isLoopback)).toEqual([]);
    checkListen("0.0.0.0", { tls, auth: { verify: () => undefined } });
    checkListen("127.0.0.1", { tls });
    checkListen("0.0.0.0", { insecure: true });
    expect(() => checkListen("0.0.0.0", {})).toThrow(/insecure/);
  });
});
