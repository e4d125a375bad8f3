import { request } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { connect as connectTcp } from "node:net";
import { networkInterfaces } from "node:os";
import { describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { call, modern, modernHeaders, open } from "../http/requests.js";

/** A request with any header, also those that fetch does not let one set. */
function raw(url: string, headers: Record<string, string>, method = "POST", body = ""): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, agent: false }, (response) => {
      response.destroy();
      resolve(response.statusCode as number);
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

function upgraded(url: string, headers: Record<string, string>): Promise<number> {
  return new Promise((resolve) => {
    const socket = new WebSocket(url, ["mcp"], { headers });
    socket.on("error", () => {});
    socket.once("open", () => {
      socket.terminate();
      resolve(101);
    });
    socket.once("unexpected-response", (_request, response) => {
      socket.terminate();
      resolve(response.statusCode as number);
    });
  });
}

const body = modern(1, "tools/call", { name: "echo", arguments: {} });
const foreign = [
  "https://evil.example",
  "http://localhost.evil.example",
  "http://127.0.0.1.evil.example:8000",
  "null",
  "file://",
  "not an origin",
];
const local = ["http://localhost:5173", "http://127.0.0.1", "http://[::1]:3000"];

describe("1: a foreign Origin", () => {
  it("is refused over HTTP and nothing runs", async () => {
    await using at = await open();
    for (const origin of foreign) {
      expect(await raw(at.url, { ...modernHeaders(body), origin }, "POST", JSON.stringify(body))).toBe(403);
      expect(await raw(at.url, { origin, accept: "text/event-stream" }, "GET")).toBe(403);
      expect(await raw(at.url, { origin, "access-control-request-method": "POST" }, "OPTIONS")).toBe(403);
    }
    expect(at.calls).toEqual([]);
    for (const origin of local) expect(await raw(at.url, { ...modernHeaders(body), origin }, "POST", JSON.stringify(body))).toBe(200);
    expect(at.calls.length).toBe(local.length);
  });

  it("is refused over HTTP+SSE", async () => {
    await using at = await open({}, "sse+http");
    for (const origin of foreign) {
      expect(await raw(at.url, { origin }, "GET")).toBe(403);
      expect(await raw(at.url.replace("/sse", "/message"), { origin }, "POST", JSON.stringify(call(1, "echo")))).toBe(403);
    }
    for (const origin of local) expect(await raw(at.url, { origin }, "GET")).toBe(200);
  });

  it("is refused before a WebSocket is opened", async () => {
    await using at = await open({}, "ws");
    for (const origin of foreign) expect(await upgraded(at.url, { origin })).toBe(403);
    for (const origin of local) expect(await upgraded(at.url, { origin })).toBe(101);
  });

  it("is let in where it is allowed, and only that one", async () => {
    await using at = await open({
      allowedOrigins: ["app.example", "https://*.team.example", "http://dev.example:8080", "vscode-webview://abc"],
    });
    const status = (origin: string) => raw(at.url, { ...modernHeaders(body), origin }, "POST", JSON.stringify(body));
    expect(await status("https://app.example")).toBe(200);
    for (const origin of ["https://app.example:443", "https://a.team.example", "http://dev.example:8080", "vscode-webview://abc"])
      expect([origin, await status(origin)]).toEqual([origin, 200]);
    for (const origin of [
      ...["https://team.example", "https://notapp.example", "https://evilteam.example", "http://localhost"],
      // The same host by another scheme or on another port is another origin.
      ...["http://app.example", "https://app.example:8443", "http://a.team.example", "http://dev.example", "https://dev.example:8080"],
      ...["https://app.example@evil.example", "https://app.example/", "vscode-webview://abcd", "null"],
    ])
      expect([origin, await status(origin)]).toEqual([origin, 403]);
  });
});

describe("2: a foreign Host on a loopback bind", () => {
  const hosts = [
    ...["evil.example", "evil.example:80", "localhost.evil.example", "169.254.169.254", "localhost@evil.example"],
    ...["[::1].evil.example:80", "localhost:80@evil.example", "localhost:80.evil.example", "localhost:evil", "[::1", "127.0.0.1:80/x"],
  ];
  it("is refused over HTTP, HTTP+SSE and WebSocket", async () => {
    await using http = await open();
    await using sse = await open({}, "sse+http");
    await using ws = await open({}, "ws");
    for (const host of hosts) {
      expect([host, await raw(http.url, { ...modernHeaders(body), host }, "POST", JSON.stringify(body))]).toEqual([host, 403]);
      expect(await raw(sse.url, { host }, "GET")).toBe(403);
      expect(await upgraded(ws.url, { host })).toBe(403);
    }
    expect(http.calls).toEqual([]);
    for (const host of ["localhost", "LOCALHOST:1", "127.0.0.1:99", "[::1]:8000"])
      expect(await raw(http.url, { ...modernHeaders(body), host }, "POST", JSON.stringify(body))).toBe(200);
  });

  it("is refused where only another listener of the process allows it", async () => {
    await using one = await open({ allowedHosts: ["one.example"] });
    await using other = await open({ allowedHosts: ["other.example"] });
    const post = (url: string, host: string): Promise<number> => raw(url, { ...modernHeaders(body), host }, "POST", JSON.stringify(body));
    for (let time = 0; time < 2; time++) {
      expect([await post(one.url, "one.example"), await post(other.url, "one.example")]).toEqual([200, 403]);
      expect([await post(other.url, "other.example"), await post(one.url, "other.example")]).toEqual([200, 403]);
    }
  });

  it("is refused over HTTP/2, in either place", async () => {
    await using at = await open();
    const session = connectHttp2(at.url);
    const status = (headers: Record<string, string>): Promise<number> =>
      new Promise((resolve, reject) => {
        const stream = session.request({ ":method": "POST", ":path": "/mcp", ...modernHeaders(body), ...headers });
        stream.on("response", (answer) => resolve(answer[":status"] as number));
        stream.on("error", reject);
        stream.resume();
        stream.end(JSON.stringify(body));
      });
    expect(await status({ ":authority": "evil.example" })).toBe(403);
    expect(await status({ ":authority": "localhost", host: "evil.example" })).toBe(403);
    expect(await status({ ":authority": "evil.example", host: "localhost" })).toBe(403);
    expect(await status({ ":authority": "localhost" })).toBe(200);
    session.close();
  });
});

/** The status of a request whose head is sent as it is written here. */
function head(url: string, lines: readonly string[]): Promise<number> {
  const { port, pathname } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connectTcp(Number(port), "127.0.0.1", () =>
      socket.write(`${[`GET ${pathname} HTTP/1.1`, ...lines, "Connection: close"].join("\r\n")}\r\n\r\n`),
    );
    socket.once("data", (chunk) => {
      socket.destroy();
      resolve(Number(/^HTTP\/1.1 (\d+)/.exec(chunk.toString("latin1"))?.[1]));
    });
    socket.once("error", reject);
  });
}

describe("2: a Host that comes twice", () => {
  const upgrade = ["Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="];
  const hosts = [
    ["Host: localhost", "Host: evil.example"],
    ["Host: evil.example", "host: localhost"],
    ["Host: localhost", "HOST: localhost"],
  ];
  it("is refused over HTTP, HTTP+SSE, WebSocket and on the gRPC port", async () => {
    await using http = await open();
    await using sse = await open({}, "sse+http");
    await using ws = await open({}, "ws");
    await using grpc = await open({}, "grpc");
    for (const lines of hosts) {
      expect([lines, await head(http.url, ["Accept: text/event-stream", ...lines])]).toEqual([lines, 403]);
      expect(await head(sse.url, ["Accept: text/event-stream", ...lines])).toBe(403);
      expect(await head(ws.url, [...upgrade, ...lines])).toBe(403);
      expect(await head(`${grpc.url.replace("grpc:", "http:")}/mcp.v1.McpService/Ping`, lines)).toBe(403);
    }
    const once = ["Host: localhost"];
    expect(await head(sse.url, ["Accept: text/event-stream", ...once])).toBe(200);
    expect(await head(ws.url, [...upgrade, ...once])).toBe(101);
  });
});

it("3: a loopback bind is not reached from another interface", async () => {
  const others = Object.values(networkInterfaces())
    .flat()
    .filter((found) => found !== undefined && !found.internal && found.family === "IPv4")
    .map((found) => (found as { address: string }).address);
  for (const scheme of ["http", "sse+http", "ws"]) {
    await using at = await open({}, scheme);
    const port = Number(new URL(at.url).port);
    const reached = (host: string): Promise<boolean> =>
      new Promise((resolve) => {
        const socket = connectTcp({ host, port }, () => {
          socket.destroy();
          resolve(true);
        });
        socket.on("error", () => resolve(false));
      });
    expect(await reached("127.0.0.1")).toBe(true);
    // The whole of 127/8 is loopback: another address of it stands for another interface where there is no other.
    for (const host of ["127.0.0.2", ...others]) expect([host, await reached(host)]).toEqual([host, false]);
  }
});
