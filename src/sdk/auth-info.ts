import { type Context, isObject, type JsonObject, type Message } from "../core/index.js";
import type { SdkAuthInfo, SdkMessage, SdkTransport } from "./types.js";

/**
 * The key under which a message carries its sender on the way to a server in this process: spreading `_meta` from edge to edge copies a
 * symbol, and no wire ever writes one.
 */
const AUTH: unique symbol = Symbol("anywire.authInfo");

/** The caller in the form that the SDK's handlers expect: the principal, and the bearer token if the edge kept it. */
export function callerAuthInfo({ client, metadata }: Context): SdkAuthInfo | undefined {
  if (client.identity.principal === undefined) return undefined;
  const header = metadata["authorization"];
  const bearer = typeof header === "string" ? /^bearer +(\S+)$/i.exec(header)?.[1] : undefined;
  return { token: bearer ?? "", clientId: client.identity.principal, scopes: [] };
}

export function withAuthInfo(message: Message, authInfo: SdkAuthInfo | undefined): Message {
  if (authInfo === undefined) return message;
  const kept = message.params["_meta"];
  return { method: message.method, params: { ...message.params, _meta: { ...(isObject(kept) ? kept : undefined), [AUTH]: authInfo } } };
}

/** Makes a connected transport pass on in `extra` the auth info of its messages. */
export function liftAuthInfo(transport: SdkTransport): void {
  const deliver = transport.onmessage;
  transport.onmessage = (message, extra) => {
    const { params } = message as SdkMessage & { readonly params?: JsonObject };
    const found = params?.["_meta"] as (JsonObject & { readonly [AUTH]?: SdkAuthInfo }) | undefined;
    if (found?.[AUTH] === undefined) return deliver?.(message, extra);
    const { [AUTH]: authInfo, ...others } = found;
    const { _meta, ...rest } = params as JsonObject;
    const plain = { ...message, params: Object.keys(others).length > 0 ? { ...rest, _meta: others } : rest };
    return deliver?.(plain, { ...extra, authInfo });
  };
}
