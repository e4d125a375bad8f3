import { type LookupAddress, lookup } from "node:dns";
import { lookup as resolve } from "node:dns/promises";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import type { LookupFunction } from "node:net";
import { Fault } from "../core/index.js";
import { deadline } from "../stream/index.js";
import { type AddressReach, isLoopbackUrl, literal, reachOf } from "./addresses.js";

export type GuardedFetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

const MAX_BYTES = 1024 * 1024;
const TIMEOUT_MS = 30_000;

/**
 * A fetch for URLs from a server's metadata. It does not connect to link-local, metadata or loopback addresses unless the server itself is
 * on loopback, to private addresses only if the server has one, and over plain HTTP only to loopback or the server's own host. The address
 * is checked when the connection is made, so that a name cannot change in between. Redirects are not followed.
 */
export function guardedFetch(server: URL): GuardedFetch {
  const local = isLoopbackUrl(server);
  let near: Promise<boolean> | undefined;
  const reaches = async (): Promise<ReadonlySet<AddressReach>> => {
    near ??= isNear(server);
    if (local) return new Set<AddressReach>(["loopback", "private", "public"]);
    return new Set<AddressReach>((await near) ? ["private", "public"] : ["public"]);
  };
  return async (input, init) => {
    const request = new Request(input, { ...init, redirect: "manual" });
    const url = new URL(request.url);
    if (url.protocol !== "https:" && !(url.protocol === "http:" && (url.host === server.host || (local && isLoopbackUrl(url)))))
      throw refused(url, "it is not https");
    const allowed = await reaches();
    const address = literal(url);
    if (address !== undefined && !allowed.has(reachOf(address))) throw refused(url, `${address} is not an address for that`);
    const body = await request.text();
    using scope = deadline(init?.signal ?? undefined, TIMEOUT_MS);
    const response = await send(url, { request, body, signal: scope.signal, lookup: checked(url, allowed) });
    return await answer(response);
  };
}

/** A TypeError, as fetch throws it, which discovery does not take for a missing document. */
function refused(url: URL, why: string): TypeError {
  const fault = new Fault("unauthenticated", `will not fetch ${url.origin} for signing in: ${why}`, {
    data: { reason: "refused-address" },
  });
  return new TypeError(fault.message, { cause: fault });
}

async function isNear(server: URL): Promise<boolean> {
  const found = await resolve(literal(server) ?? server.hostname, { all: true }).catch(() => []);
  return found.length > 0 && found.every(({ address }) => reachOf(address) !== "public");
}

function checked(url: URL, allowed: ReadonlySet<AddressReach>): LookupFunction {
  return (hostname, options, done) => {
    lookup(hostname, { ...options, all: true }, (error, found: LookupAddress[]) => {
      if (error !== null) return done(error, "", 4);
      const bad = found.find(({ address }) => !allowed.has(reachOf(address)));
      const [first] = found;
      if (bad !== undefined || first === undefined) return done(refused(url, `${hostname} is at ${bad?.address ?? "no address"}`), "", 4);
      return options.all === true ? done(null, found) : done(null, first.address, first.family);
    });
  };
}

interface Sending {
  readonly request: Request;
  readonly body: string;
  readonly signal: AbortSignal;
  readonly lookup: LookupFunction;
}

function send(url: URL, { request, body, signal, lookup }: Sending): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = {
      ...Object.fromEntries(request.headers),
      ...(body === "" ? undefined : { "content-length": Buffer.byteLength(body) }),
    };
    const sent = (url.protocol === "https:" ? httpsRequest : httpRequest)(url, {
      method: request.method,
      headers,
      lookup,
      signal,
      agent: false,
    });
    sent.once("response", resolve);
    sent.once("error", (error) => {
      reject(error instanceof TypeError ? error : new TypeError(`cannot reach ${url.origin}: ${error.message}`, { cause: error }));
    });
    sent.end(body);
  });
}

async function answer(response: IncomingMessage): Promise<Response> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new TypeError(`an authorization answer is larger than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  const headers = new Headers();
  for (const [name, value] of Object.entries(response.headersDistinct)) for (const one of value ?? []) headers.append(name, one);
  const status = response.statusCode ?? 502;
  return new Response(bytes === 0 ? null : Buffer.concat(chunks), { status, headers });
}
