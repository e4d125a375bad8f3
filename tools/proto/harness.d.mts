import type { MessageCodec } from "../../src/codec/bufmcpv1/index.js";
import type { Incoming, IncomingPart, OutgoingMessage, ParseLimits, Part } from "../../src/codec/index.js";
import type * as mcpv1 from "../../src/codec/mcpv1/index.js";

export type Codec = Pick<
  typeof mcpv1,
  "encodeMessage" | "decodeMessage" | "encodeToServer" | "decodeToServer" | "encodeToClient" | "decodeToClient" | "encodePart"
> & {
  parseMessage(text: string, limits: ParseLimits): Incoming;
  reserialise(message: Exclude<Incoming, { kind: "bad" }>): string;
  parseJson(text: string): unknown;
  jsonText(value: unknown): string;
};

export interface Case {
  readonly to: "server" | "client";
  readonly method?: string;
  readonly message: object;
}
export interface Verdict {
  readonly size: number;
  readonly json?: number;
  readonly wrong?: unknown;
  /** Only the order of its members, or the spelling of -0, is another. */
  readonly reordered?: boolean;
  /** A number does not fit a double, and was refused. */
  readonly refused?: boolean;
}
export type { IncomingPart, OutgoingMessage, Part };
export function textOf(value: unknown): string;
export function session(codec: Codec, of: Case, options: mcpv1.EncodeOptions): Verdict;
/** `relay` is what another runtime makes of the bytes on their way. */
export function connection(
  codec: Omit<Codec, keyof typeof mcpv1> & { readonly MessageCodec: typeof MessageCodec; relay?(bytes: Uint8Array): Uint8Array },
  of: Case,
): Verdict;
export function message(codec: Codec, name: mcpv1.MessageName, value: object, options: mcpv1.EncodeOptions): Verdict;
