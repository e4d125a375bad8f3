import { type ClientHttp2Session, type ClientHttp2Stream, connect as connectHttp2 } from "node:http2";
import { connect as connectTcp, type Socket } from "node:net";

const WIDE = 2 ** 31 - 1;

/** A gRPC message with its prefix. */
export function framed(message: Uint8Array, { compressed = false, declared = message.length } = {}): Buffer {
  const bytes = Buffer.alloc(5 + message.length);
  bytes[0] = compressed ? 1 : 0;
  bytes.writeUInt32BE(declared, 1);
  bytes.set(message, 5);
  return bytes;
}

/** A protobuf field of bytes: its number below 16 or of two bytes of tag. */
export function field(number: number, value: string | Uint8Array): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([varint((number << 3) | 2), varint(bytes.length), bytes]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 0x7f; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80);
  return Buffer.from([...bytes, rest]);
}

/** Where attackers come from: callers without credentials that share an address share its quota, and the neighbour is somebody else. */
export const FROM = "127.0.0.2";

/** A client of `node:http2` that takes whatever comes. */
export function wideSession(port: number): Promise<ClientHttp2Session> {
  const session = connectHttp2(`http://127.0.0.1:${port}`, {
    settings: { initialWindowSize: WIDE },
    maxSessionMemory: 4096,
    createConnection: () => connectTcp({ host: "127.0.0.1", port, localAddress: FROM }),
  });
  session.on("error", () => {});
  return new Promise((resolve) =>
    session.once("connect", () => {
      session.setLocalWindowSize(WIDE);
      resolve(session);
    }),
  );
}

export function rpc(session: ClientHttp2Session, path: string, more: Readonly<Record<string, string>> = {}): ClientHttp2Stream {
  const stream = session.request({ ":method": "POST", ":path": path, "content-type": "application/grpc", te: "trailers", ...more });
  stream.on("error", () => {});
  return stream;
}

/** Calls by hand on a connection that nothing is ever read from. */
export async function deaf(
  port: number,
): Promise<{ readonly socket: Socket; call(stream: number, path: string, message: Uint8Array): Buffer }> {
  const socket = connectTcp({ host: "127.0.0.1", port, localAddress: FROM });
  socket.on("error", () => {});
  await new Promise<void>((resolve, reject) => {
    socket.once("connect", resolve);
    socket.once("error", reject);
  });
  socket.pause();
  // No window at all, so that the server keeps everything: a full socket would stop it from reading further calls.
  const settings = Buffer.alloc(6);
  settings.writeUInt16BE(4, 0);
  socket.write(Buffer.concat([Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), frame(4, 0, 0, settings)]));
  return {
    socket,
    call: (stream, path, message) => Buffer.concat([frame(1, 4, stream, headers(path)), frame(0, 1, stream, framed(message))]),
  };
}

function frame(type: number, flags: number, stream: number, payload: Uint8Array): Buffer {
  const bytes = Buffer.alloc(9 + payload.length);
  bytes.writeUIntBE(payload.length, 0, 3);
  bytes[3] = type;
  bytes[4] = flags;
  bytes.writeUInt32BE(stream, 5);
  bytes.set(payload, 9);
  return bytes;
}

function headers(path: string): Buffer {
  const text = (value: string): Buffer => Buffer.concat([Buffer.of(value.length), Buffer.from(value, "latin1")]);
  const all = [
    [":method", "POST"],
    [":scheme", "http"],
    [":path", path],
    [":authority", "127.0.0.1"],
    ["te", "trailers"],
    ["content-type", "application/grpc"],
  ] as const;
  return Buffer.concat(all.map(([name, value]) => Buffer.concat([Buffer.of(0), text(name), text(value)])));
}
