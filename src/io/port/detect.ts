import type { Socket } from "node:net";

/** Whether a byte stream that begins with these bytes speaks a protocol; undefined if they are too few to tell. */
export type Detect = (first: Uint8Array) => boolean | undefined;

/** By the first byte alone: one of these, or in one of these ranges. */
export function firstByte(...bytes: readonly (number | readonly [from: number, to: number])[]): Detect {
  return ([first = -1]) => bytes.some((each) => (typeof each === "number" ? each === first : each[0] <= first && first <= each[1]));
}

/** By the text that it begins with. */
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
/** JSON-RPC in lines: an object, a batch, or white space before one. */
export const isJsonLines: Detect = firstByte(0x7b, 0x5b, 0x20, 0x09, 0x0a, 0x0d);
/** The preface of HTTP/2, as far as no method of HTTP/1.1 begins so. */
export const isHttp2: Detect = firstText("PRI");
/** HTTP/1.1 is what nothing else is: it answers garbage with a status. */
export const isAnything: Detect = () => true;

/** A row of the table by which the first bytes of a connection are told apart. */
export interface Protocol {
  readonly detect: Detect;
  /** Takes the connection, which is paused, and the bytes that were looked at. */
  take(socket: Socket, first: Buffer): void;
}

/** Gives a connection to the first protocol of the table that its first bytes are of. One that sends too few within `ms` is closed, as is one of no protocol. */
export function detect(socket: Socket, table: readonly Protocol[], ms: number): void {
  let first: Buffer | undefined;
  const late = setTimeout(() => socket.destroy(), ms);
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
