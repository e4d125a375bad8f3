import { type ContentReply, Fault, isObject, type JsonObject } from "../core/index.js";
import { decodeBase64, encodeBase64 } from "../stream/index.js";
import { PART } from "./blob-text.js";
import type { AnswerPart, Id, IncomingNotification, IncomingPart, OutgoingNotification } from "./jsonrpc.js";

export interface PartMessageOptions {
  /** The call that the part belongs to, if the stream does not say so. */
  readonly call?: Id;
  /** Whether bytes pass unchanged instead of as base64. */
  readonly bytes: boolean;
}

/** A part as a notification. */
export function partMessage(part: AnswerPart, { call, bytes }: PartMessageOptions): OutgoingNotification {
  const params: Record<string, unknown> = call === undefined ? {} : { call };
  if (part.kind === "chunk" && typeof part.data !== "string") {
    if (!bytes) return { jsonrpc: "2.0", method: PART, params, blob: encodeBase64(part.data) };
    params["blob"] = part.data;
  } else if (part.kind === "chunk") params["text"] = part.data;
  else {
    const { kind, ...rest } = part;
    Object.assign(params, rest);
  }
  return { jsonrpc: "2.0", method: PART, params };
}

/** The part that a notification carries, or what is wrong with it; undefined for any other notification. */
export function readPart({ method, params }: IncomingNotification, call?: Id): IncomingPart | BadPart | undefined {
  if (method !== PART) return undefined;
  const id = call ?? (params["call"] as Id);
  const part = partOf(params);
  return part instanceof Fault ? { kind: "bad-part", id, fault: part } : { kind: "part", id, part };
}

/** Ends its call, whose answer would otherwise have a gap. */
export interface BadPart {
  readonly kind: "bad-part";
  readonly id: Id;
  readonly fault: Fault;
}

function isForm(value: unknown): value is ContentReply["form"] {
  return value === "text" || value === "blob" || value === "none";
}

function partOf(params: JsonObject): AnswerPart | Fault {
  const { text, blob, form, head, offset, size } = params;
  if (typeof text === "string") return { kind: "chunk", data: text };
  if (blob !== undefined) {
    const data = bytesOf(blob);
    return data instanceof Fault ? data : { kind: "chunk", data };
  }
  if (!isForm(form) || !isObject(head)) return new Fault("invalid-request", "the server sent an invalid part");
  return {
    kind: "content",
    form,
    head,
    ...(typeof offset === "number" ? { offset } : undefined),
    ...(typeof size === "number" ? { size } : undefined),
  };
}

function bytesOf(blob: unknown): Uint8Array | Fault {
  if (blob instanceof Uint8Array) return blob;
  try {
    return decodeBase64(String(blob));
  } catch (cause) {
    return new Fault("invalid-request", "the server sent a blob that is not base64", { cause });
  }
}
