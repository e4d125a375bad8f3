import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { vi } from "vitest";
import type { Channel, ClientCall } from "../../../src/io/index.js";
import { DATA, END_HEADERS, END_STREAM, HEADERS, hpack, RST_STREAM, SETTINGS } from "./raw.js";
import { collect, frame as message } from "./support.js";

export const GOAWAY = 7;
export const WINDOW_UPDATE = 8;
const PREFACE = 24;

export interface Heard {
  readonly type: number;
  readonly flags: number;
  readonly id: number;
  readonly payload: Buffer;
}

/** One client of a server that speaks HTTP/2 by hand. */
export interface RawPeer {
  readonly socket: Socket;
  /** Which connection of the server it is. */
  readonly number: number;
  /** All frames that came but DATA. */
  readonly heard: Heard[];
  /** Bytes of data that came. */
  readonly received: number;
  /** Streams whose end came. */
  readonly ended: ReadonlySet<number>;
  send(...frames: readonly Uint8Array[]): void;
  /** The nth request, from 0. Waits for it. */
  request(nth: number): Promise<number>;
  /** The code of the reset of a stream. Waits for it. */
  reset(id: number): Promise<number>;
  /** The code of the GOAWAY that came, once the connection is closed. */
  readonly left: Promise<number | undefined>;
}

export interface RawServer {
  readonly port: number;
  readonly peers: RawPeer[];
  close(): Promise<void>;
}

export interface RawServerOptions {
  /** Sent at once; an empty frame of settings unless given. */
  readonly hello?: Uint8Array;
  /** Reads nothing after so many bytes. */
  readonly reads?: number;
  /** Never closes a connection. */
  readonly lingers?: boolean;
}

/** Tells each connection what to say; what this throws or rejects with ends the connection. */
export async function rawServer(serve: (peer: RawPeer) => void | Promise<void>, options: RawServerOptions = {}): Promise<RawServer> {
  const peers: RawPeer[] = [];
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    const peer = accept(socket, peers.length, options);
    peers.push(peer);
    void Promise.resolve(serve(peer)).catch(() => socket.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    peers,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

function accept(socket: Socket, number: number, options: RawServerOptions): RawPeer {
  const heard: Heard[] = [];
  const ended = new Set<number>();
  let received = 0;
  let total = 0;
  let pending: Buffer = Buffer.alloc(0);
  let greeted = false;
  socket.on("error", () => {});
  socket.on("data", (chunk: Buffer) => {
    total += chunk.length;
    if (total >= (options.reads ?? Number.POSITIVE_INFINITY)) socket.pause();
    pending = Buffer.concat([pending, chunk]);
    if (!greeted && pending.length >= PREFACE) {
      greeted = true;
      pending = pending.subarray(PREFACE);
    }
    while (greeted && pending.length >= 9 && pending.length >= 9 + pending.readUIntBE(0, 3)) {
      const end = 9 + pending.readUIntBE(0, 3);
      const payload = Buffer.from(pending.subarray(9, end));
      const type = pending[3] as number;
      const flags = pending[4] as number;
      const id = pending.readUInt32BE(5);
      if (type === DATA) received += payload.length;
      else heard.push({ type, flags, id, payload });
      if (type === DATA && (flags & END_STREAM) !== 0) ended.add(id);
      pending = pending.subarray(end);
    }
  });
  if (options.lingers !== true) socket.on("end", () => socket.end());
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  const find = (test: (each: Heard) => boolean): Promise<Heard> =>
    vi.waitFor(
      () => {
        const found = heard.find(test);
        if (found === undefined) throw new Error("nothing of the kind was heard");
        return found;
      },
      { timeout: 10_000, interval: 5 },
    );
  socket.write(options.hello ?? frame(SETTINGS, 0, 0));
  return {
    socket,
    number,
    heard,
    ended,
    get received() {
      return received;
    },
    send: (...frames) => {
      socket.write(Buffer.concat(frames));
    },
    request: async (nth) => (await find((each) => each.type === HEADERS && each.id === nth * 2 + 1)).id,
    reset: async (id) => (await find((each) => each.type === RST_STREAM && each.id === id)).payload.readUInt32BE(0),
    left: closed.then(() => heard.find(({ type }) => type === GOAWAY)?.payload.readUInt32BE(4)),
  };
}

export function frame(type: number, flags: number, id: number, payload: Uint8Array = new Uint8Array()): Buffer {
  const bytes = Buffer.alloc(9 + payload.length);
  bytes.writeUIntBE(payload.length, 0, 3);
  bytes[3] = type;
  bytes[4] = flags;
  bytes.writeUInt32BE(id >>> 0, 5);
  bytes.set(payload, 9);
  return bytes;
}

/** 32 bits each. */
export function words(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  values.forEach((value, at) => {
    bytes.writeUInt32BE(value, at * 4);
  });
  return bytes;
}

export function setting(...values: readonly (readonly [number, number])[]): Buffer {
  return frame(SETTINGS, 0, 0, Buffer.concat(values.map(([name, value]) => Buffer.concat([Buffer.of(name >> 8, name), words(value)]))));
}

export const head: readonly (readonly [string, string])[] = [
  [":status", "200"],
  ["content-type", "application/grpc"],
];
export const tail: readonly (readonly [string, string])[] = [["grpc-status", "0"]];

/** Headers of a good answer. */
export function begin(id: number): Buffer {
  return frame(HEADERS, END_HEADERS, id, hpack(head));
}

/** A message, in a frame of its own. */
export function say(id: number, text: string): Buffer {
  return frame(DATA, 0, id, message(Buffer.from(text)));
}

export function finish(id: number): Buffer {
  return frame(HEADERS, END_HEADERS | END_STREAM, id, hpack(tail));
}

/** All of a good answer. */
export function answer(id: number, text: string): Buffer {
  return Buffer.concat([begin(id), say(id, text), finish(id)]);
}

export const data = (id: number, bytes: Uint8Array, flags = 0): Buffer => frame(DATA, flags, id, bytes);
export const headers = (id: number, list: readonly (readonly [string, string])[], flags = END_HEADERS): Buffer =>
  frame(HEADERS, flags, id, hpack(list));
export const both = (...frames: Buffer[]): Buffer => Buffer.concat(frames);

/** A call with one message, and no more. */
export function ask(dialled: Channel): ClientCall {
  const call = dialled.call("/t.T/M", { deadline: Date.now() + 20_000 });
  call.send(Buffer.from("m"));
  call.done();
  return call;
}

/** What a call that ends well brings. */
export async function texts(call: ClientCall): Promise<string[]> {
  const { messages, fault } = await collect(call);
  if (fault !== undefined) throw fault;
  return messages.map(String);
}

/** Answers three requests from the nth on. */
export async function serveFrom(peer: RawPeer, nth: number): Promise<void> {
  for (let at = nth; at < nth + 3; at++) {
    const id = await peer.request(at).catch(() => undefined);
    if (id === undefined) return;
    peer.send(answer(id, "good"));
  }
}
