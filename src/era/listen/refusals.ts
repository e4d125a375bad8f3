import type { Id } from "../../codec/index.js";
import { type Era, Fault, type JsonObject, meta, modernVersions, toRpcError } from "../../core/index.js";
import type { Respond } from "./calls.js";

export function refuse(id: Id, fault: Fault, era: Era, respond: Respond): Promise<void> {
  return respond({ jsonrpc: "2.0", id, error: toRpcError(fault, era), fault }, true);
}

/** The fault of a request without a version on a server that serves only the modern era. */
export function onlyModern(method: string, params: JsonObject): Fault {
  if (method !== "initialize") return new Fault("meta-missing", `_meta["${meta.protocolVersion}"] is required`);
  return new Fault("unsupported-version", `this server speaks only ${modernVersions.join(", ")}, which has no initialize`, {
    data: { supported: [...modernVersions], requested: params["protocolVersion"] },
  });
}

/** The fault of a request that comes before there is a session. */
export function unopened(method: string, eras: readonly Era[]): Fault {
  if (eras.includes("modern"))
    return new Fault("meta-missing", `send initialize first, or _meta["${meta.protocolVersion}"] with every request`);
  if (method === "server/discover") return new Fault("unknown-method", `unknown method: ${method}`);
  return new Fault("invalid-request", "the session is not initialised: send initialize first");
}
