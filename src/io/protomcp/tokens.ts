import { PROBE } from "../../codec/bufmcpv1/index.js";
import type { IncomingRequest, Link, LinkMessage } from "../../codec/index.js";
import {
  type CredentialWatch,
  defaultTimeouts,
  Fault,
  isCredential,
  isModernRequest,
  isObject,
  type JsonObject,
  toFault,
  toRpcError,
  type WireOptions,
} from "../../core/index.js";
import { timerMs } from "../../stream/index.js";
import { type AuthOptions, checkCredentials, refusedCredentials } from "../http/credentials.js";
import { tellRefused } from "../http/gate.js";
import { continued, withIncoming } from "./incoming.js";

// Requests of proto-mcp may show credentials in their metadata, under the names that headers have: `authorization: Bearer TOKEN`.

type Batches = AsyncIterable<readonly LinkMessage[]>;
type Shown = Readonly<Record<string, string>>;

export interface TokenOptions extends Pick<WireOptions, "observe" | "wire"> {
  readonly auth?: AuthOptions | undefined;
  /** Whom the connection stands for already: a token has to stand for the same. */
  readonly principal?: string | undefined;
}

/** A link whose client has shown whom it stands for. */
export interface AdmittedLink {
  readonly link: Link;
  readonly principal: string;
  readonly credentials: CredentialWatch;
}

/** Takes credentials out of a link's requests. Where they are checked, a request with others than the connection's own is answered with the refusal. */
export function checksTokens(link: Link, options: TokenOptions): Link {
  return withIncoming(link, checked(link, link.incoming, options));
}

/**
 * Waits for a request with a valid token; others are refused. Resolves with the link, on which that request comes next; undefined if there was
 * none within `ms`, and the link has ended.
 */
export async function admitByToken(
  link: Link,
  options: TokenOptions & { readonly auth: AuthOptions },
  ms: number = defaultTimeouts.headersMs,
): Promise<AdmittedLink | undefined> {
  const batches = link.incoming[Symbol.asyncIterator]();
  const late = setTimeout(() => void link.close(new Fault("unauthenticated", `no valid token came within ${ms} ms`)), timerMs(ms));
  try {
    for (let step = await batches.next(); step.done !== true; step = await batches.next())
      for (const [at, message] of step.value.entries()) {
        const admitted = await look(link, message, options);
        if (admitted === undefined) continue;
        const rest = continued([admitted.request, ...step.value.slice(at + 1)], batches);
        const { principal, credentials } = admitted;
        return { link: withIncoming(link, checked(link, rest, { ...options, principal })), principal, credentials };
      }
  } catch (error) {
    await link.send({ jsonrpc: "2.0", id: null, error: toRpcError(toFault(error), "legacy") }).catch(() => {});
  } finally {
    clearTimeout(late);
  }
  await link.close();
  return undefined;
}

type Looked = Omit<AdmittedLink, "link"> & { readonly request: IncomingRequest };

/** What a message of nobody in particular amounts to; undefined if it was refused, or told nothing. */
async function look(link: Link, message: LinkMessage, options: TokenOptions & { auth: AuthOptions }): Promise<Looked | undefined> {
  if (message.kind === "bad" && message.silent !== true)
    await link.send({ jsonrpc: "2.0", id: message.id ?? null, error: toRpcError(message.fault, "legacy") });
  if (message.kind !== "request") return undefined;
  const { request, shown = {} } = split(message, options.auth);
  const verdict = await checkCredentials({ header: (name) => shown[name] }, options.auth, undefined);
  if (!("refused" in verdict)) return { request, principal: verdict.principal.id, credentials: verdict.watch };
  await refuse(link, request, refusedCredentials(verdict), options);
  return undefined;
}

async function* checked(link: Link, batches: Batches, options: TokenOptions): AsyncGenerator<readonly LinkMessage[]> {
  const { auth, principal } = options;
  for await (const batch of batches) {
    if (!batch.some((message) => message.kind === "request" && showsAny(message, auth))) {
      yield batch;
      continue;
    }
    const kept: LinkMessage[] = [];
    for (const message of batch) {
      if (message.kind !== "request") {
        kept.push(message);
        continue;
      }
      const { request, shown } = split(message, auth);
      const fault = shown === undefined || auth === undefined ? undefined : await faultOf(shown, auth, principal);
      if (fault === undefined) kept.push(request);
      else await refuse(link, request, fault, options);
    }
    yield kept;
  }
}

async function faultOf(shown: Shown, auth: AuthOptions, principal: string | undefined): Promise<Fault | undefined> {
  const verdict = await checkCredentials({ header: (name) => shown[name] }, auth, undefined);
  if ("refused" in verdict) return refusedCredentials(verdict);
  return verdict.principal.id === principal
    ? undefined
    : new Fault("denied", "the token stands for somebody else than the connection does");
}

async function refuse(link: Link, { id, params }: IncomingRequest, fault: Fault, options: TokenOptions): Promise<void> {
  tellRefused(options, fault);
  await link.send({ jsonrpc: "2.0", id, error: toRpcError(fault, isModernRequest(params) ? "modern" : "legacy"), fault });
}

function isShown(name: string, auth: AuthOptions | undefined): boolean {
  return isCredential(name) || name.toLowerCase() === auth?.tokenHeader;
}

function showsAny({ params }: IncomingRequest, auth: AuthOptions | undefined): boolean {
  const { _meta } = params;
  if (isObject(_meta)) for (const name in _meta) if (isShown(name, auth)) return true;
  return false;
}

/** A request without its credentials, and these, under names in lower case. */
function split(request: IncomingRequest, auth: AuthOptions | undefined): { readonly request: IncomingRequest; readonly shown?: Shown } {
  if (!showsAny(request, auth)) return { request };
  const members = Object.entries(request.params["_meta"] as JsonObject);
  const shown = members.filter(([name, value]) => isShown(name, auth) && typeof value === "string");
  const _meta = Object.fromEntries(members.filter(([name]) => !isShown(name, auth)));
  return {
    request: { ...request, params: { ...request.params, _meta } },
    shown: Object.fromEntries(shown.map(([name, value]) => [name.toLowerCase(), String(value)])),
  };
}

/** A link to a server that is shown credentials with every request that has a place for them. `full`: whether it knows more than the base. */
export function showsTokens(link: Link, full: boolean, credentials: Shown | undefined): Link {
  if (credentials === undefined) return link;
  return {
    ...link,
    get backlog() {
      return link.backlog;
    },
    send(message, options) {
      const shows = !Array.isArray(message) && "id" in message && "method" in message && (full || message.method === "tools/call");
      if (!shows || message.method === PROBE) return link.send(message, options);
      const { params } = message;
      const _meta = { ...(isObject(params?.["_meta"]) ? params["_meta"] : undefined), ...credentials };
      return link.send({ ...message, params: { ...params, _meta } }, options);
    },
  };
}

/** Of the headers that a caller gave, those that say who it is. */
export function credentialsIn(headers: Shown | undefined): Shown | undefined {
  const found = Object.entries(headers ?? {}).filter(([name]) => isCredential(name));
  return found.length === 0 ? undefined : Object.fromEntries(found.map(([name, value]) => [name.toLowerCase(), value]));
}
