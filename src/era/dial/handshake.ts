import {
  type Context,
  type DialOptions,
  defaultTimeouts,
  type Era,
  Fault,
  type FaultCode,
  isLegacyVersion,
  isModernVersion,
  isObject,
  type JsonObject,
  legacyVersions,
  modernVersions,
  resultOf,
  rpcCodes,
  toFault,
} from "../../core/index.js";
import { timerMs } from "../../stream/index.js";
import { anywireKeys } from "../keys.js";
import { httpStatus } from "../watch/reach.js";
import type { LinkCall } from "./link-call.js";
import { modernRules } from "./modern.js";
import type { Peer } from "./peer.js";

/** The era and version of a peer, and the result that states them: of `server/discover`, or of `initialize`. */
export interface EraVerdict {
  readonly era: Era;
  readonly version: string;
  readonly result: JsonObject;
}

/** In place of an answer that did not come in time. */
export const SILENT: unique symbol = Symbol("silent");

/** Errors that only a modern server sends. */
const modernErrors: ReadonlySet<number | undefined> = new Set([
  rpcCodes.headerMismatch,
  rpcCodes.missingCapability,
  rpcCodes.unsupportedVersion,
]);

/** Refusals that could answer any request, so they say nothing about the era. */
const undecided: ReadonlySet<FaultCode> = new Set<FaultCode>(["unauthenticated", "denied", "overload", "deadline"]);

interface Attempt {
  readonly call: LinkCall;
  readonly answer: Promise<JsonObject>;
}

/** Detects what a peer speaks. It sets up nothing that depends on the verdict: that is left to the caller. */
export async function shakeHands(peer: Peer, options: DialOptions, context: (era: Era) => Context): Promise<EraVerdict> {
  const attempt = (method: string, params: JsonObject, era: Era): Attempt => {
    peer.rules = era === "modern" ? modernRules(peer) : undefined;
    const call = peer.call({ method, params }, context(era));
    return { call, answer: resultOf(call) };
  };
  const initialize = (): Attempt => {
    const { capabilities, info } = context("legacy").client;
    const _meta = { [anywireKeys.peer]: {} };
    return attempt("initialize", { protocolVersion: legacyVersions[0], capabilities, clientInfo: info, _meta }, "legacy");
  };
  if (options.era === "legacy") return legacy(await initialize().answer);

  const discover = (): Attempt => attempt("server/discover", {}, "modern");
  const probe = discover();
  // A server that refuses but lists a version of ours does support it, so it is asked again, once.
  const answered = probe.answer.catch((error) => (offersOurs(toFault(error)) ? discover().answer : Promise.reject(error)));
  const verdict = answered.then(modern, (error) => refused(toFault(error)));
  if (options.era === "modern") return (await verdict) ?? notModern(await answered.then(() => undefined, toFault));

  const early = await orSilence(verdict, options.probeMs ?? defaultTimeouts.probeMs);
  if (early !== SILENT) return early ?? legacy(await initialize().answer);
  const opening = initialize();
  try {
    return await firstOf(verdict, opening.answer);
  } finally {
    // The request that did not decide may still be answered. That answer is ignored.
    peer.forsake(probe.call);
    peer.forsake(opening.call);
  }
}

/** Whether an answer to `server/discover` is that of a modern server. Rejects if it says nothing about that. */
export function isModernServer(answer: Promise<JsonObject>): Promise<boolean> {
  return answer.then(
    (found) => modern(found) !== undefined,
    (error) => {
      const fault = toFault(error);
      if (saysNothing(fault)) throw fault;
      return offersOurs(fault) || refused(fault) !== undefined;
    },
  );
}

/** After silence both requests are open, and the first success decides. */
async function firstOf(verdict: Promise<EraVerdict | undefined>, opening: Promise<JsonObject>): Promise<EraVerdict> {
  const found = verdict.then((modern) => modern ?? Promise.reject());
  try {
    const first = await Promise.any([found, opening.then((opened) => ({ opened }))]);
    return "opened" in first ? legacy(first.opened) : first;
  } catch (error) {
    if (!(error instanceof AggregateError)) throw error;
    // That discover is unknown there is not worth reporting; any other error of it is.
    throw error.errors[0] ?? error.errors[1];
  }
}

/** The verdict of an answer to discover. Undefined: the peer is legacy, or at least speaks a legacy version that we support. */
function modern(found: JsonObject): EraVerdict | undefined {
  const versions = found["supportedVersions"];
  if (!Array.isArray(versions) || !isObject(found["capabilities"])) return undefined;
  const version = modernVersions.find((ours) => versions.includes(ours));
  if (version !== undefined) return { era: "modern", version, result: found };
  if (versions.some(isLegacyVersion)) return undefined;
  throw nothingInCommon(versions);
}

function offersOurs(fault: Fault): boolean {
  const versions = isObject(fault.data) && Array.isArray(fault.data["supported"]) ? fault.data["supported"] : [];
  return fault.code === "unsupported-version" && versions.some(isModernVersion);
}

/** The verdict of an error. An error that only modern servers send is final, unless it offers a legacy version. */
function refused(fault: Fault): undefined {
  // A peer that does not let us in, or not now, says nothing about its era.
  if (undecided.has(fault.code) || (httpStatus(fault) ?? 0) >= 500) throw fault;
  const versions = isObject(fault.data) && Array.isArray(fault.data["supported"]) ? fault.data["supported"] : [];
  if (!modernErrors.has(fault.rpcCode) || versions.some(isLegacyVersion)) return undefined;
  throw fault.code === "unsupported-version" ? nothingInCommon(versions, fault) : fault;
}

function legacy(result: JsonObject): EraVerdict {
  const version = result["protocolVersion"];
  if (typeof version === "string" && isLegacyVersion(version)) return { era: "legacy", version, result };
  const message = `no common protocol version: the server answered ${String(version)}, ours are ${legacyVersions.join(", ")}`;
  throw new Fault("unsupported-version", message, { data: { supported: [...legacyVersions], requested: version } });
}

function notModern(cause: Fault | undefined): never {
  if (cause !== undefined && saysNothing(cause)) throw cause;
  const why = cause === undefined ? "its answer to server/discover is invalid" : cause.message;
  throw new Fault("unsupported-version", `the server does not speak ${modernVersions.join(", ")}: ${why}`, { cause });
}

function nothingInCommon(theirs: readonly unknown[], cause?: Fault): Fault {
  const message = `no common protocol version: ours is ${modernVersions.join(", ")}, the server's ${theirs.join(", ") || "not said"}`;
  return new Fault("unsupported-version", message, { cause, data: { supported: theirs, requested: modernVersions[0] } });
}

export async function orSilence<T>(promise: Promise<T>, ms: number): Promise<T | typeof SILENT> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<typeof SILENT>((resolve) => {
    timer = setTimeout(resolve, timerMs(ms), SILENT);
  });
  try {
    return await Promise.race([promise, silence]);
  } finally {
    clearTimeout(timer);
  }
}

/** Whether a fault is about the call or the connection, and not about what the peer speaks. An HTTP status may be about either. */
function saysNothing({ code, data }: Fault): boolean {
  if (code === "unavailable") return !isObject(data) || data["status"] === undefined;
  return code === "overload" || code === "denied" || code === "deadline" || code === "cancelled";
}
