import type { Socket } from "node:net";
import { timerMs } from "../../stream/index.js";

/** Whether a byte stream that begins with these bytes speaks a protocol; undefined if more bytes are needed. */
export type Detect = (first: Uint8Array) => boolean | undefined;

/** Detects by the first byte: one of these, or in one of these ranges. */
export function firstByte(...bytes: readonly (number | readonly [from: number, to: number])[]): Detect {
  return ([first = -1]) => bytes.some((each) => (typeof each === "number" ? each === first : each[0] <= first && first <= each[1]));
}

/** Detects by the text at the beginning. */
export function firstText(text: string): Detect {
  const expected = Buffer.from(text, "latin1");
  return (first) => {
    const length = Math.min(first.length, expected.length);
    if (!expected.subarray(0, length).equals(first.subarray(0, length))) return false;
    return length === expected.length ? true : undefined;
  };
}

/** A TLS handshake record. */
export const isTls: Detect = firstByte(0x16);
/** Lines of JSON-RPC: an object, a batch, or white space before one. */
export const isJsonLines: Detect = firstByte(0x7b, 0x5b, 0x20, 0x09, 0x0a, 0x0d);
/** The preface of HTTP/2, as much of it as no HTTP/1.1 method begins with. */
export const isHttp2: Detect = firstText("PRI");
/** Everything else is HTTP/1.1, whose server answers garbage with a status. */
export const isAnything: Detect = () => true;

/** A row of the table that tells protocols apart by the first bytes of a connection. */
export interface Protocol {
  readonly detect: Detect;
  /** Takes the paused connection, and the bytes that were already read. */
  take(socket: Socket, first: Buffer): void;
}

/**
 * Gives a connection to the first protocol of the table that recognises its first bytes. If it sends too few within `ms`, or no protocol
 * matches, it is closed.
 */
export function detect(socket: Socket, table: readonly Protocol[], ms: number): void {
  let first: Buffer | undefined;
  const late = setTimeout(() => socket.destroy(), timerMs(ms));
  const over = (): void => clearTimeout(late);
  const onData = (chunk: Buffer): void => {
    first = first === undefined ? chunk : Buffer.concat([first, chunk]);
    const found = choose(table, first);
    if (found === "more") return;
    over();
    socket.off("data", onData).off("close", over).pause();
    if (found === undefined) socket.destroy();
    else found.take(socket, first);
  };
  socket.on("data", onData).once("close", over);
}

function choose(table: readonly Protocol[], first: Uint8Array): Protocol | "more" | undefined {
  for (const protocol of table) {
    const is = protocol.detect(first);
    if (is === true) return protocol;
    if (is === undefined) return "more";
  }
  return undefined;
}
