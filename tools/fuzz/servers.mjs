// Raw servers that answer with bad frames: `(rng) => { address, sent(), close() }`. None of them is ours.
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { createServer as createHttp2Server } from "node:http2";
import { createServer as createTcp } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { WebSocketServer } from "ws";
import { MessageCodec, PROBE, probed } from "../../dist/codec/bufmcpv1/index.js";
import { decodeToServer, encodeToClient } from "../../dist/codec/mcpv1/index.js";
import { protoFrame, tunnelled } from "./attacks.mjs";
import { answers, serverMessages } from "./messages.mjs";
import { frameOf, mutateBytes } from "./mutate.mjs";

/** Frames of one stdio server, and bytes of the file that counts them. */
const LIFE = 10_000;
const TELL = 100;

/** What is said in answer to a request: its answer, mostly in the end and mostly bad, and much besides. Handshakes succeed mostly. */
export function saidTo({ id, method }, rng) {
  const answer = { jsonrpc: "2.0", id, result: answers[method] ?? answers.other };
  const begins = method === "initialize" || method === "server/discover";
  const besides = Array.from({ length: rng.below(begins ? 3 : 60) }, () => ({ message: rng.one(serverMessages), good: false }));
  return [...besides, { message: answer, good: rng.chance(begins ? 0.8 : 0.3) }];
}

function textOf({ message, good }, rng) {
  return good ? Buffer.from(JSON.stringify(message)) : frameOf(message, rng);
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

async function listening(server, scheme, path, sent) {
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    address: `${scheme}://127.0.0.1:${server.address().port}${path}`,
    sent,
    close: () => {
      server.closeAllConnections?.();
      server.close();
    },
  };
}

async function bodyOf(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

export const badServers = {
  async stdio(rng) {
    const home = mkdtempSync(join(tmpdir(), "anywire-fuzz-"));
    const tally = join(home, "tally");
    const size = () => {
      try {
        return statSync(tally).size * TELL;
      } catch {
        return 0;
      }
    };
    const script = fileURLToPath(new URL("./bad-stdio.mjs", import.meta.url));
    return {
      address: { command: process.execPath, args: [script, String(1 + rng.below(1e9)), tally, String(LIFE), String(TELL)] },
      sent: size,
      close: () => rmSync(home, { recursive: true, force: true }),
    };
  },

  http(rng) {
    let sent = 0;
    const server = createServer(async (request, response) => {
      response.on("error", () => {});
      if (request.method !== "POST") return response.writeHead(405).end();
      const message = parsed(await bodyOf(request).catch(() => ""));
      if (message.id === undefined) return response.writeHead(rng.chance(0.9) ? 202 : 500).end();
      const frames = saidTo(message, rng);
      if (rng.chance(0.4)) {
        sent++;
        const status = rng.chance(0.9) ? 200 : rng.one([204, 302, 400, 401, 404, 406, 429, 500, 503]);
        const odd = rng.chance(0.05);
        response.writeHead(status, {
          "content-type": odd ? "text/html" : "application/json",
          ...(rng.chance(0.2) && { "mcp-session-id": "abc" }),
        });
        return response.end(textOf(frames.at(-1), rng));
      }
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (const frame of frames) {
        sent++;
        const event = Buffer.concat([Buffer.from("event: message\nid: 1\ndata: "), textOf(frame, rng), Buffer.from("\n\n")]);
        response.write(rng.chance(0.05) ? mutateBytes(event, rng) : event);
      }
      if (rng.chance(0.05)) return response.destroy();
      return response.end();
    });
    return listening(server, "http", "/mcp", () => sent);
  },

  sse(rng) {
    let sent = 0;
    const streams = new Set();
    const server = createServer(async (request, response) => {
      response.on("error", () => {});
      if (request.method === "GET") {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write("event: endpoint\ndata: /message\n\n");
        streams.add(response);
        response.on("close", () => streams.delete(response));
        return undefined;
      }
      const message = parsed(await bodyOf(request).catch(() => ""));
      response.writeHead(202).end();
      if (message.id === undefined) return undefined;
      for (const frame of saidTo(message, rng)) {
        sent++;
        const event = Buffer.concat([Buffer.from("event: message\ndata: "), textOf(frame, rng), Buffer.from("\n\n")]);
        for (const stream of streams) stream.write(rng.chance(0.02) ? mutateBytes(event, rng) : event);
      }
      if (rng.chance(0.005)) for (const stream of streams) stream.destroy();
      return undefined;
    });
    return listening(server, "sse+http", "/sse", () => sent);
  },

  async ws(rng) {
    let sent = 0;
    const server = createServer();
    new WebSocketServer({ server }).on("connection", (socket) => {
      socket.on("error", () => {});
      socket.on("message", (data) => {
        const message = parsed(String(data));
        if (message.id === undefined) return;
        for (const frame of saidTo(message, rng)) {
          if (socket.readyState !== socket.OPEN) return;
          sent++;
          if (rng.chance(0.0005)) socket.send(Buffer.from("binary"), { binary: true });
          else socket.send(textOf(frame, rng).toString());
        }
        if (rng.chance(0.002)) socket.terminate();
      });
    });
    return listening(server, "ws", "/mcp", () => sent);
  },

  async proto(rng) {
    let sent = 0;
    const server = createTcp((socket) => {
      socket.on("error", () => {});
      const codec = new MessageCodec({ depth: 64 });
      let rest = Buffer.alloc(0);
      socket.on("data", (chunk) => {
        rest = Buffer.concat([rest, chunk]);
        while (rest.length >= 4 && rest.length >= 4 + rest.readUInt32BE()) {
          const end = 4 + rest.readUInt32BE();
          const [message] = codec.decode(rest.subarray(4, end));
          rest = rest.subarray(end);
          if (message?.kind !== "request") continue;
          const probe = message.method === PROBE;
          const frames = probe ? [{ message: { jsonrpc: "2.0", id: message.id, result: probed }, good: true }] : saidTo(message, rng);
          for (const { message: said, good } of frames) {
            let bytes;
            try {
              bytes = codec.encode(said);
            } catch {
              continue;
            }
            if (bytes === undefined || !socket.writable) continue;
            sent++;
            const prefix = Buffer.alloc(4);
            prefix.writeUInt32BE(bytes.length);
            socket.write(good ? Buffer.concat([prefix, bytes]) : protoFrame(bytes, rng));
          }
        }
      });
    });
    return listening(server, "proto+tcp", "", () => sent);
  },

  session: (rng) =>
    overGrpc("grpc", rng, (bytes) => {
      const message = decodeToServer(bytes, { depth: 64, messageBytes: 1e6 });
      if (message.kind !== "request") return [];
      return saidTo(message, rng).flatMap(({ message: said, good }) => {
        try {
          const frame = Buffer.from(encodeToClient(said, message.method, {}));
          return [good ? frame : mutateBytes(frame, rng)];
        } catch {
          return [];
        }
      });
    }),

  tunnel: (rng) =>
    overGrpc("tunnel+grpc", rng, (bytes) => {
      const message = parsed(bytes.subarray(bytes.indexOf(0x7b)).toString());
      return message.id === undefined ? [] : saidTo(message, rng).map((frame) => tunnelled(textOf(frame, rng)));
    }),
};

/** A gRPC server of one message in, some out, whatever the RPC. */
function overGrpc(scheme, rng, answer) {
  let sent = 0;
  const server = createHttp2Server();
  server.on("sessionError", () => {});
  server.on("stream", (stream) => {
    stream.on("error", () => {});
    stream.respond(
      { ":status": 200, "content-type": "application/grpc", ...(rng.chance(0.5) && { "anywire-twins": "1" }) },
      { waitForTrailers: true },
    );
    stream.on("wantTrailers", () =>
      stream.sendTrailers({ "grpc-status": rng.chance(0.8) ? "0" : String(rng.below(20)), "grpc-message": rng.one(["", "%zz", "no"]) }),
    );
    let rest = Buffer.alloc(0);
    stream.on("data", (chunk) => {
      rest = Buffer.concat([rest, chunk]);
      while (rest.length >= 5 && rest.length >= 5 + rest.readUInt32BE(1)) {
        const bytes = rest.subarray(5, 5 + rest.readUInt32BE(1));
        rest = rest.subarray(5 + bytes.length);
        let frames = [];
        try {
          frames = answer(bytes);
        } catch {
          // A message of another RPC.
        }
        for (const frame of frames) {
          if (!stream.writable) return;
          sent++;
          const head = Buffer.alloc(5);
          head.writeUInt32BE(frame.length, 1);
          stream.write(Buffer.concat([rng.chance(0.001) ? mutateBytes(head, rng) : head, frame]));
        }
        if (rng.chance(0.002)) stream.close(rng.below(10));
      }
    });
    stream.on("end", () => stream.end());
  });
  return listening(server, scheme, "", () => sent);
}
