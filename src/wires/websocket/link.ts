import { type Incoming, type Outgoing, parseMessage, serialise } from "../../codec/index.js";
import { type Account, Fault, isObject, LITTLE_BYTES, type Limits, limitsOf, messageTooLarge } from "../../core/index.js";
import { type Link, sharedStream } from "../../era/index.js";
import { pipe } from "../../stream/index.js";

/**
 * Bytes that are not in shared memory, which a browser's socket does not accept. TypeScript can express that only from 5.7 on; before, it
 * means all bytes.
 */
type OwnBytes = ReturnType<Uint8Array["slice"]>;

/** What a link needs from a socket: one of `ws`, or a browser's own. */
export interface Socket {
  /** `sent` is called when the text was sent, or with the error if it cannot be. A browser's socket does not call it. */
  send(text: string | OwnBytes, sent?: (error?: Error) => void): void;
  close(code?: number, reason?: string): void;
  readonly bufferedAmount: number;
  readonly readyState: number;
  addEventListener(
    type: "message" | "close" | "error",
    listener: (event: { readonly data?: unknown; readonly code?: number; readonly reason?: string }) => void,
  ): void;
  /** Stops reading. A browser's socket cannot do that. */
  pause?(): void;
  resume?(): void;
}

const OPEN = 1;
/** Bytes that may wait to be written before the sender waits. */
const HIGH_WATER = 256 * 1024;
/** What may wait to be read before the peer is paused. */
const HELD = { chars: 1024 * 1024, items: 1024 };
/** Frames that may wait to be read. If the peer cannot be paused, their bytes may be `connectionBytes`. Beyond that the link ends. */
const MOST_FRAMES = 100_000;
/** A page may close its socket with 1000, or with a code of its own, which begin here. */
const OWN_CODES = 4000;

/** Encodes messages as binary frames. */
export interface FrameCodec {
  /** Undefined if there is nothing to send. */
  encode(message: Outgoing): Uint8Array | undefined;
  decode(bytes: Uint8Array): readonly Incoming[];
}

export interface WebSocketLinkOptions {
  /** The codec of binary frames; text frames of JSON-RPC unless given. */
  readonly codec?: FrameCodec | undefined;
  /** Called before each frame is sent. */
  readonly gather?: (() => void) | undefined;
  /** Counts what waits, if given. */
  readonly account?: Account | undefined;
  /** The principal that it counts for. */
  readonly principal?: string | undefined;
}

/** A link of JSON-RPC in text frames, or of binary frames. */
export function socketLink(
  socket: Socket,
  limits: Partial<Limits> = {},
  { codec, gather, account, principal }: WebSocketLinkOptions = {},
): Link {
  const { depth, messageBytes, connectionBytes } = limitsOf(limits);
  const bytes = socket.pause === undefined ? connectionBytes : Number.POSITIVE_INFINITY;
  const inbox = pipe<string | Uint8Array>({ items: MOST_FRAMES, bytes, size: (frame) => frame.length });
  const waiting = new Set<() => void>();
  const received = account?.hold(principal);
  const unwritten = account?.outgoing(principal);
  let closed: Fault | undefined;
  let paused = false;

  const wake = (): void => {
    if (unwritten !== undefined && unwritten.bytes > 0) unwritten.set(closed === undefined ? socket.bufferedAmount : 0);
    if (closed === undefined && socket.bufferedAmount > HIGH_WATER) return;
    for (const go of waiting) go();
    waiting.clear();
  };
  const end = (reason: Fault, clean: boolean): void => {
    if (closed !== undefined) return;
    closed = reason;
    received?.free();
    wake();
    if (clean) inbox.close();
    else inbox.fail(reason);
  };
  /** A destroyed socket accepts everything at once until it reports its end, which would let producers run without limit. */
  const sent = (error?: Error): void => {
    if (error && socket.readyState === OPEN) end(new Fault("unavailable", "the socket broke", { data: { reason: "broken" } }), false);
    else wake();
  };
  const closeWith = (code: number, why: string): void =>
    socket.close(socket.pause === undefined && code > 1000 && code < 3000 ? OWN_CODES + (code % 1000) : code, why);
  const stop = (code: number, fault: Fault): void => {
    end(fault, false);
    closeWith(code, fault.message);
  };
  socket.addEventListener("message", ({ data }) => {
    if (closed !== undefined) return;
    if (codec === undefined && typeof data !== "string") return stop(1003, new Fault("invalid-request", "binary frames are not messages"));
    // A server of JSON-RPC may answer a binary frame with the text of an error.
    if (codec !== undefined && !(data instanceof Uint8Array)) return stop(1003, new Fault("parse", "text frames are not messages"));
    const frame = data as string | Uint8Array;
    // On the side of a server and in Node, ws checks that too, before it has the whole frame.
    if (frame.length > messageBytes) return stop(1009, messageTooLarge(messageBytes));
    if (!inbox.offer(frame)) return stop(1009, unread(connectionBytes));
    if (inbox.bytes > 0) received?.set(inbox.bytes);
    if ((inbox.bytes < HELD.chars && inbox.length < HELD.items) || paused || socket.pause === undefined) return;
    paused = true;
    socket.pause();
  });
  socket.addEventListener("close", ({ code, reason }) => {
    // Most servers send this code without a reason.
    const why = reason || (code === 1009 ? "a message is larger than it takes" : "");
    end(
      new Fault("unavailable", `the peer closed the socket${why ? `: ${why}` : ""}`, { data: { reason: "closed", code } }),
      code === 1000 || code === 1001 || code === 1005,
    );
  });
  socket.addEventListener("error", () => end(new Fault("unavailable", "the socket broke", { data: { reason: "broken" } }), false));

  async function* incoming(): AsyncGenerator<readonly Incoming[]> {
    for await (const frame of inbox) {
      if (received !== undefined && received.bytes > 0) received.set(inbox.bytes);
      if (paused && inbox.bytes < HELD.chars / 2 && inbox.length < HELD.items / 2) {
        paused = false;
        socket.resume?.();
      }
      yield typeof frame === "string" ? [parseMessage(frame, { depth })] : unprefixed(frame, codec as FrameCodec);
    }
  }

  /** Waits until there is room. A socket that cannot be paused does not report when it has written either, only how much is left. */
  const room = async (): Promise<void> => {
    if (socket.pause !== undefined) return new Promise((resolve) => waiting.add(resolve));
    for (let ms = 1; socket.bufferedAmount > HIGH_WATER && closed === undefined; ms = Math.min(2 * ms, 50))
      await new Promise((resolve) => setTimeout(resolve, ms));
  };

  return {
    ...sharedStream,
    incoming: incoming(),
    get backlog() {
      return socket.bufferedAmount;
    },
    async send(message: Outgoing) {
      if (closed !== undefined) throw closed;
      const frame = codec === undefined ? serialise(message) : codec.encode(message);
      if (frame === undefined) return;
      if (frame.length > messageBytes) throw messageTooLarge(messageBytes);
      gather?.();
      socket.send(frame as string | OwnBytes, sent);
      const { bufferedAmount } = socket;
      if (bufferedAmount > LITTLE_BYTES) unwritten?.set(bufferedAmount);
      if (bufferedAmount > HIGH_WATER) await room();
    },
    async close(reason) {
      if (closed === undefined) closeWith(closeCode(reason), utf8Prefix(reason?.message ?? ""));
      // A paused socket would never receive the peer's close frame.
      if (paused) socket.resume?.();
      end(reason ?? new Fault("unavailable", "the link was closed", { data: { reason: "closed" } }), true);
    },
  };
}

function unread(max: number): Fault {
  return new Fault("overload", "the peer sends more than is read", { data: { limit: "connectionBytes", max } });
}

const PREFIX = 4;
/** The first byte of a message is at least this: it is the tag of a field. */
const FIRST_TAG = 8;

/** Some peers put a length before the message, as on a stream. */
function unprefixed(frame: Uint8Array, codec: FrameCodec): readonly Incoming[] {
  if ((frame[0] ?? FIRST_TAG) >= FIRST_TAG) return codec.decode(frame);
  const { buffer, byteOffset, length } = frame;
  if (length >= PREFIX && new DataView(buffer, byteOffset).getUint32(0) === length - PREFIX) return codec.decode(frame.subarray(PREFIX));
  return [{ kind: "bad", fault: new Fault("parse", "the length before the message is not that of the message") }];
}

/** 1001: the whole server closes, not only this link. 3000: registered for a client without valid credentials. */
function closeCode(reason: Fault | undefined): number {
  if (reason?.code === "unauthenticated") return 3000;
  return isObject(reason?.data) && reason.data["reason"] === "closing" ? 1001 : 1000;
}

/** A close frame holds 123 bytes of reason. */
function utf8Prefix(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]/g, "?").slice(0, 120);
}
