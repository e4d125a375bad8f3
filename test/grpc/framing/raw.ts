import { connect, type Socket } from "node:net";

/** HTTP/2 by hand, for what no client library sends. */
export interface Raw {
  readonly socket: Socket;
  /** Frame types and error codes that came: `GOAWAY 11`, `RST_STREAM 1`. */
  readonly heard: string[];
  readonly closed: Promise<void>;
  frame(type: number, flags: number, stream: number, payload?: Uint8Array): Buffer;
}

export const DATA = 0;
export const HEADERS = 1;
export const RST_STREAM = 3;
export const SETTINGS = 4;
export const PING = 6;
export const CONTINUATION = 9;
export const END_STREAM = 1;
export const END_HEADERS = 4;

/** Connects, and says hello. Reads what comes unless told not to. */
export async function raw(port: number, { reads = true }: { reads?: boolean } = {}): Promise<Raw> {
  const socket = connect({ port, host: "127.0.0.1" });
  const heard: string[] = [];
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  socket.on("error", () => {});
  let pending = Buffer.alloc(0);
  if (reads) {
    socket.on("data", (chunk) => {
      pending = Buffer.concat([pending, chunk]);
      for (;;) {
        const length = pending.length < 9 ? Number.POSITIVE_INFINITY : pending.readUIntBE(0, 3);
        if (pending.length < 9 + length) return;
        if (pending[3] === 7) heard.push(`GOAWAY ${pending.readUInt32BE(13)}`);
        if (pending[3] === RST_STREAM) heard.push(`RST_STREAM ${pending.readUInt32BE(9)}`);
        pending = pending.subarray(9 + length);
      }
    });
  }
  await new Promise<void>((resolve, reject) => {
    socket.once("connect", resolve);
    socket.once("error", reject);
  });
  socket.write(Buffer.concat([Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), frame(SETTINGS, 0, 0)]));
  return { socket, heard, closed, frame };
}

function frame(type: number, flags: number, stream: number, payload: Uint8Array = new Uint8Array()): Buffer {
  const bytes = Buffer.alloc(9 + payload.length);
  bytes.writeUIntBE(payload.length, 0, 3);
  bytes[3] = type;
  bytes[4] = flags;
  bytes.writeUInt32BE(stream, 5);
  bytes.set(payload, 9);
  return bytes;
}

/** Headers as literals that are not indexed. Names and values of less than 127 bytes. */
export function hpack(headers: readonly (readonly [string, string])[]): Buffer {
  const text = (value: string): Buffer => Buffer.concat([Buffer.of(value.length), Buffer.from(value, "latin1")]);
  return Buffer.concat(headers.map(([name, value]) => Buffer.concat([Buffer.of(0), text(name), text(value)])));
}

export const request: readonly (readonly [string, string])[] = [
  [":method", "POST"],
  [":scheme", "http"],
  [":path", "/t.T/M"],
  [":authority", "here"],
  ["te", "trailers"],
  ["content-type", "application/grpc"],
];
