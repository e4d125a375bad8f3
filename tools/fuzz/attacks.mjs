// Raw clients that send bad frames to a listening wire: `(address, rng) => { send(count), close() }`. None of them is ours.
import { once } from "node:events";
import { request } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { connect as connectTcp } from "node:net";
import { WebSocket } from "ws";
import { MessageCodec } from "../../dist/codec/bufmcpv1/index.js";
import { protoJson } from "../../dist/codec/bufmcpv1/proto-json.js";
import { encodeMessage, encodeToServer } from "../../dist/codec/mcpv1/index.js";
import { rpcs } from "../../dist/wires/grpc/names.js";
import { clientMessages } from "./messages.mjs";
import { frameOf, mutateBytes } from "./mutate.mjs";

/** Milliseconds that an attacker waits for an answer before it goes away in the middle of it. */
const PATIENCE = 150;
const AT_ONCE = 48;

/** Runs `one` so many times, some at a time. */
async function many(count, one) {
  let left = count;
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (left-- > 0) await one();
    }),
  );
}

/** A stream that is opened again whenever it was closed. `open()` gives `{ write(bytes), closed, close() }`. */
async function onStream(count, perStream, open) {
  let stream;
  for (let at = 0; at < count; at++) {
    if (stream === undefined || stream.closed || at % perStream === 0) {
      stream?.close();
      stream = await open();
    }
    const full = stream.write();
    if (full) await full;
    // The peer's answers are read, and its closing is noticed.
    if (at % 50 === 0) await new Promise(setImmediate);
  }
  stream?.close();
}

function posted(url, headers, body) {
  return new Promise((resolve) => {
    const asked = request(url, { method: "POST", headers: { ...headers, "content-length": body.length } }, (answer) => {
      answer.resume();
      answer.on("close", resolve);
    });
    asked.setTimeout(PATIENCE, () => asked.destroy());
    asked.on("error", resolve);
    asked.on("close", resolve);
    asked.end(body);
  });
}

const json = { "content-type": "application/json", accept: "application/json, text/event-stream" };

/** Frames of proto-mcp: a length, true or not, and a message, whole or not, in protobuf or in JSON. */
export function protoFrame(bytes, rng) {
  const message = Buffer.from(rng.chance(0.2) ? jsonOf(bytes) : bytes);
  const body = rng.chance(0.8) ? mutateBytes(message, rng) : message;
  const prefix = Buffer.alloc(4);
  prefix.writeUInt32BE(rng.chance(0.01) ? rng.below(2 ** 32) : body.length);
  return Buffer.concat([prefix, body]);
}

function jsonOf(bytes) {
  try {
    return protoJson.write(Uint8Array.from(bytes), true);
  } catch {
    return bytes;
  }
}

export const attacks = {
  proto: (address, rng) => (count) => {
    const { port } = new URL(address.replace("proto+tcp", "http"));
    return onStream(count, 200, async () => {
      const socket = connectTcp(Number(port), "127.0.0.1").on("error", () => {});
      socket.resume();
      const codec = new MessageCodec({ depth: 64 }, true);
      const stream = {
        closed: false,
        write() {
          if (stream.closed) return undefined;
          let bytes;
          try {
            bytes = codec.encode(rng.one(clientMessages));
          } catch {
            bytes = Buffer.from([0x08, 1]);
          }
          if (socket.write(protoFrame(bytes ?? [0x08], rng))) return undefined;
          // A server ends a connection that it cannot read on, which may show as a reset.
          return Promise.race([once(socket, "drain"), once(socket, "close")]).catch(() => {});
        },
        close: () => socket.destroy(),
      };
      socket.once("close", () => {
        stream.closed = true;
      });
      return stream;
    });
  },

  http: (address, rng) => (count) =>
    many(count, () => {
      const message = rng.one(clientMessages);
      const modern = rng.chance(0.5);
      const odd = rng.chance(0.1);
      const headers = {
        ...json,
        ...(modern && {
          "mcp-protocol-version": odd ? rng.one(["", "2026-07-29", "x".repeat(300)]) : "2026-07-28",
          "mcp-method": odd ? rng.one(["=?base64?!!?=", "é", "ping"]) : (message.method ?? "ping"),
          ...(message.params?.name && { "mcp-name": message.params.name }),
        }),
        ...(rng.chance(0.1) && { "mcp-session-id": rng.one(["x", "\u00ff", "a".repeat(500)]) }),
        ...(rng.chance(0.1) && { "last-event-id": "1_1" }),
        ...(rng.chance(0.05) && { "content-type": "text/plain" }),
        ...(rng.chance(0.05) && { "content-encoding": "gzip" }),
      };
      return posted(
        address,
        Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, Buffer.from(value).toString("latin1")])),
        frameOf(message, rng),
      );
    }),

  sse: (address, rng) => {
    const url = address.replace("sse+", "");
    return async (count) => {
      let left = count;
      while (left > 0) {
        const stream = await new Promise((resolve, reject) => request(url, resolve).on("error", reject).end());
        const [first] = await once(stream, "data");
        stream.resume();
        stream.on("error", () => {});
        const place = new URL(/data: (\S+)/.exec(String(first))[1], url).href;
        const batch = Math.min(left, 2000);
        await many(batch, () => posted(rng.chance(0.02) ? `${place}x` : place, json, frameOf(rng.one(clientMessages), rng)));
        left -= batch;
        stream.destroy();
      }
    };
  },

  ws: (address, rng) => (count) =>
    onStream(count, 5000, async () => {
      const socket = new WebSocket(address, ["mcp"]);
      socket.on("error", () => {});
      await once(socket, "open");
      return {
        get closed() {
          return socket.readyState !== WebSocket.OPEN;
        },
        write() {
          if (rng.chance(0.001)) socket.send(mutateBytes(Buffer.from("binary"), rng), { binary: true });
          // What is no UTF-8 closes the socket, and there is a new one for each.
          else
            socket.send(rng.chance(0.005) ? frameOf(rng.one(clientMessages), rng) : frameOf(rng.one(clientMessages), rng).toString(), {
              binary: false,
            });
          return socket.bufferedAmount > 1e6 ? new Promise((resolve) => setTimeout(resolve, 20)) : undefined;
        },
        close: () => socket.terminate(),
      };
    }),

  tunnel: (address, rng) => bidi(address.replace("tunnel+", ""), "/MCP/Call", rng, () => tunnelled(frameOf(rng.one(clientMessages), rng))),

  session: (address, rng) => bidi(address, "/mcp.v1.McpService/Session", rng, () => typed(rng)),

  unary: (address, rng) => (count) => {
    const session = http2(address);
    const names = [...rpcs.keys()];
    return many(count, () => {
      const name = rng.chance(0.02) ? "Nothing" : rng.one(names);
      const rpc = rpcs.get(name);
      const params = rng.one(clientMessages).params ?? {};
      let message = Buffer.alloc(0);
      try {
        message = Buffer.from(encodeMessage(rpc?.request ?? "PingRequest", params, { twin: rng.chance(0.5) }));
      } catch {
        // This message has no such params.
      }
      return new Promise((resolve) => {
        const stream = session().request({
          ":method": "POST",
          ":path": `/mcp.v1.McpService/${name}`,
          "content-type": "application/grpc",
          te: "trailers",
        });
        stream.setTimeout(PATIENCE, () => stream.destroy());
        stream.on("error", () => {});
        stream.on("close", resolve);
        stream.resume();
        stream.end(prefixed(rng.chance(0.2) ? message : mutateBytes(message, rng), rng));
      });
    }).finally(() => session.cut());
  },
};

/** A session of HTTP/2 that is opened again when it was closed. It is cut by its socket: to reset a stream with much unsent can spin for ever in Node 20. */
function http2(address) {
  const { hostname, port } = new URL(address.replace(/^grpc/, "http"));
  let session;
  let socket;
  const current = () => {
    if (session === undefined || session.closed || session.destroyed || socket.destroyed) {
      socket = connectTcp(Number(port), hostname);
      socket.on("error", () => {});
      session = connectHttp2(`http://${hostname}:${port}`, { createConnection: () => socket });
      session.on("error", () => {});
    }
    return session;
  };
  current.cut = () => socket?.destroy();
  return current;
}

function bidi(address, path, rng, frame) {
  const session = http2(address);
  return (count) =>
    onStream(count, 5000, async () => {
      const stream = session().request({ ":method": "POST", ":path": path, "content-type": "application/grpc", te: "trailers" });
      stream.on("error", () => {});
      stream.resume();
      return {
        get closed() {
          return stream.closed || stream.destroyed;
        },
        write() {
          if (!stream.writable || stream.write(prefixed(frame(), rng))) return undefined;
          // A server that takes no more is left.
          return new Promise((resolve) => {
            const timer = setTimeout(() => session.cut(), 2000);
            const go = () => {
              clearTimeout(timer);
              stream.off("drain", go);
              stream.off("close", go);
              resolve();
            };
            stream.on("drain", go);
            stream.on("close", go);
          });
        },
        close: () => session.cut(),
      };
    });
}

/** A message of gRPC. Seldom with a prefix that is wrong, for its stream ends with that. */
function prefixed(message, rng) {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([rng.chance(0.002) ? mutateBytes(head, rng) : head, message]);
}

export function tunnelled(text) {
  const length = [];
  let left = text.length;
  for (; left > 0x7f; left >>>= 7) length.push((left & 0x7f) | 0x80);
  length.push(left);
  return Buffer.concat([Buffer.from([0x0a, ...length]), text]);
}

function typed(rng) {
  for (;;) {
    try {
      const bytes = Buffer.from(encodeToServer(rng.one(clientMessages), {}));
      return rng.chance(0.3) ? bytes : mutateBytes(bytes, rng);
    } catch {
      // This message has no frame of its own.
    }
  }
}
