import { once } from "node:events";
import { request } from "node:http";
import { connect } from "node:net";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import type { JsonObject } from "../../../src/api/index.js";
import { protomcp } from "../../relay/raw/proto-mcp.js";
import type { Opening } from "./raw.js";

/** Lines of JSON on a socket of Node: `tcp://host:port` or `unix:PATH`. */
export function lineSocket(address: string): Opening {
  return async (take, ended) => {
    const { hostname, port } = address.startsWith("unix:") ? { hostname: "", port: "" } : new URL(address);
    const socket = port === "" ? connect(address.slice("unix:".length)) : connect(Number(port), hostname);
    await once(socket, "connect");
    createInterface({ input: socket }).on("line", (line) => take(JSON.parse(line) as JsonObject));
    socket.on("error", () => {});
    socket.on("close", () => ended(new Error("the socket was closed")));
    return {
      send: (message) => void socket.write(`${JSON.stringify(message)}\n`),
      close: async () => {
        if (socket.closed) return;
        const closed = once(socket, "close");
        socket.destroy();
        await closed;
      },
    };
  };
}

/** Frames of proto-mcp, written by hand. */
export function rawStream(address: string): Opening {
  return async (take) => {
    const client = await protomcp.client(address, "legacy", (text) => take(JSON.parse(text) as JsonObject));
    return { send: (message) => client.send(JSON.stringify(message)), close: () => client.close() };
  };
}

/** `fetch` to a server on a Unix socket, by Node's own client of HTTP/1.1. */
export function fetchOnSocket(path: string): (url: string | URL, init?: RequestInit) => Promise<Response> {
  return (url, { method, headers, body, signal } = {}) =>
    new Promise((resolve, reject) => {
      const { pathname, search } = new URL(url);
      const sent = request({
        socketPath: path,
        path: pathname + search,
        method: method ?? "GET",
        headers: Object.fromEntries(new Headers(headers)),
        ...(signal === null || signal === undefined ? undefined : { signal }),
      });
      sent.on("error", reject);
      sent.on("response", (answer) => {
        const fields = Object.entries(answer.headers).map(([name, value]): [string, string] => [name, String(value)]);
        const content = answer.statusCode === 204 ? null : (Readable.toWeb(answer) as ReadableStream);
        resolve(new Response(content, { status: answer.statusCode ?? 0, headers: fields }));
      });
      sent.end(body);
    });
}
