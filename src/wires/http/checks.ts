import type { Incoming, IncomingRequest, Outgoing } from "../../codec/index.js";
import {
  answeredStatus,
  type Era,
  Fault,
  fromRpcError,
  isLegacyVersion,
  isObject,
  legacyVersions,
  meta,
  modernVersions,
  refusedStatus,
  statedVersion,
} from "../../core/index.js";
import type { Exchange } from "../../io/index.js";
import { JSON_TYPE, mediaType, SSE_TYPE } from "./media-types.js";

/** The Accept header of most clients of this protocol. */
const USUAL = `${JSON_TYPE}, ${SSE_TYPE}`;

/** Whether an Accept header allows a type. */
export function accepts(accept: string, type: string): boolean {
  if (accept === USUAL) return type === JSON_TYPE || type === SSE_TYPE;
  return accept.split(",").some((part) => {
    const range = part.split(";", 1)[0]?.trim().toLowerCase();
    return range === type || range === "*/*" || range === `${type.split("/", 1)[0]}/*`;
  });
}

/** The fault of a modern request that lacks the required `_meta`. */
export function checkEnvelope({ params }: IncomingRequest): Fault | undefined {
  const envelope = isObject(params["_meta"]) ? params["_meta"] : {};
  if (typeof statedVersion(params) !== "string") return new Fault("meta-missing", `_meta["${meta.protocolVersion}"] is required`);
  if (!isObject(envelope[meta.clientCapabilities]))
    return new Fault("meta-missing", `_meta["${meta.clientCapabilities}"] is required and has to be an object`);
  return undefined;
}

/** The body of a POST must be plain JSON. Nothing is decompressed here, so that nothing small can become large. */
export function checkBody(exchange: Exchange): Fault | undefined {
  const type = exchange.header("content-type");
  if (type !== JSON_TYPE && mediaType(type) !== JSON_TYPE) return new Fault("invalid-request", `the Content-Type has to be ${JSON_TYPE}`);
  const encoding = exchange.header("content-encoding")?.trim().toLowerCase() ?? "identity";
  return encoding === "identity" ? undefined : new Fault("invalid-request", `the Content-Encoding ${encoding} is not taken`);
}

/** A legacy request names a supported version, or none. */
export function checkVersion(version: string | undefined): Fault | undefined {
  if (version === undefined || isLegacyVersion(version)) return undefined;
  return new Fault("unsupported-version", `protocol version ${version} is not supported`, {
    data: { supported: [...modernVersions, ...legacyVersions], requested: version },
  });
}

/** Whether a message has to be answered. */
export function expectsAnswer(message: Incoming): boolean {
  return message.kind === "batch" ? message.messages.some(({ kind }) => kind === "request" || kind === "bad") : message.kind === "request";
}

/** The status of a response that is the only message. */
export function statusOf(message: Outgoing, era: Era): number {
  if (Array.isArray(message) || !("error" in message)) return 200;
  const fault = message.fault ?? fromRpcError(message.error);
  // A response without an id is about the POST itself.
  return message.id === null ? refusedStatus(fault, era) : answeredStatus(fault, era);
}
