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
    await using at = await open({ allowedOrigins: ["app.example", "*.team.example"] });
    const status = (origin: string) => raw(at.url, { ...modernHeaders(body), origin }, "POST", JSON.stringify(body));
    expect(await status("https://app.example")).toBe(200);
    expect(await status("https://a.team.example")).toBe(200);
    for (const origin of ["https://team.example", "https://notapp.example", "https://evilteam.example", "http://localhost"])
      expect(await status(origin)).toBe(403);
  });
});

describe("2: a foreign Host on a loopback bind", () => {
  const hosts = ["evil.example", "evil.example:80", "localhost.evil.example", "169.254.169.254", "localhost@evil.example"];
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
