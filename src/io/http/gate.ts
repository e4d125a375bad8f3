import { type CredentialWatch, Fault, notifyObserver, refusalOf, refusedStatus, toFault, type WireOptions } from "../../core/index.js";
import { type AuthOptions, checkCredentials, METADATA_PATH, type RefusedCredentials } from "./credentials.js";
import type { Exchange, Outlet } from "./exchange.js";
import { corsHeaders, type GuardOptions, preflightHeaders, refusal } from "./guard.js";
import { forwardedBy } from "./trusted-proxy.js";

export interface GateOptions extends GuardOptions, Pick<WireOptions, "observe" | "wire"> {
  readonly auth?: AuthOptions | undefined;
}

/** A caller that was admitted, or the answer for one that was not. The answer is sent before anything else of the request is read. */
export type Admission =
  | {
      readonly principal: string | undefined;
      readonly headers: Readonly<Record<string, string>>;
      /** For a stream that outlives the request. */
      readonly credentials?: CredentialWatch;
    }
  | {
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly text: string;
      /** Why the caller was refused, for wires that say so in a form of their own. */
      readonly fault?: Fault;
    };

/** Who calls, or why the call is refused. */
export type CallerVerdict =
  | {
      readonly principal: string | undefined;
      /** The address that it calls from, behind trusted proxies too. */
      readonly remote: string | undefined;
      /** For a stream that outlives the request. */
      readonly credentials?: CredentialWatch;
    }
  | RefusedCredentials;

/** A call in any protocol on HTTP, as the gate sees it. */
interface GateRequest extends Pick<Exchange, "hosts" | "header"> {
  remote?: string | undefined;
}

/** The check that comes first on every HTTP wire: Host and Origin, the metadata of RFC 9728, a preflight, the credentials. */
export async function admit(exchange: Exchange, options: GateOptions, path: string): Promise<Admission> {
  const foreign = foreignFault(exchange, options);
  if (foreign !== undefined) return { status: refusedStatus(foreign), headers: {}, text: foreign.message, fault: foreign };
  const headers = corsHeaders(exchange);
  const { auth } = options;
  if (auth?.metadata !== undefined && exchange.path.startsWith(METADATA_PATH))
    return { status: 200, headers: { ...headers, "content-type": "application/json" }, text: JSON.stringify(auth.metadata) };
  if (exchange.method === "OPTIONS") return { status: 204, headers: preflightHeaders(exchange), text: "" };
  const found = identify(exchange, options, auth && metadataUrl(exchange, auth, path));
  const caller = found instanceof Promise ? await found : found;
  if ("refused" in caller) {
    const { refused: fault, challenge } = caller;
    const asking = challenge === undefined ? headers : { ...headers, "www-authenticate": challenge };
    return { status: refusedStatus(fault), headers: asking, text: fault.message, fault };
  }
  const { principal, credentials } = caller;
  if (principal !== undefined) exchange.principal = principal;
  return credentials === undefined ? { principal, headers } : { principal, headers, credentials };
}

/** The fault of a call that names a foreign Host or Origin. Observers are told of it. */
export function foreignFault(request: GateRequest, options: GateOptions): Fault | undefined {
  const refused = refusal(request, options);
  return refused === undefined ? undefined : told(options, new Fault("denied", refused));
}

/**
 * Finds out who calls: by the word of a trusted proxy, or else by credentials, if they are demanded. Sets the request's address to that of
 * the proxy's client. Observers are told of a refusal. Returns a promise only if there are credentials to check.
 */
export function identify(request: GateRequest, options: GateOptions, metadata?: string): CallerVerdict | Promise<CallerVerdict> {
  const { auth, trustedProxy } = options;
  let user: string | undefined;
  if (trustedProxy !== undefined)
    try {
      ({ remote: request.remote, user } = forwardedBy(request, trustedProxy));
    } catch (error) {
      return { refused: told(options, toFault(error)) };
    }
  const { remote } = request;
  if (auth === undefined || user !== undefined) return { principal: user, remote };
  return checkCredentials(request, auth, metadata).then((verdict) => {
    if (!("refused" in verdict)) return { principal: verdict.principal.id, remote, credentials: verdict.watch };
    return { ...verdict, refused: told(options, verdict.refused) };
  });
}

function told(options: GateOptions, fault: Fault): Fault {
  tellRefused(options, fault);
  return fault;
}

/** An exchange whose streamed answer is cut when its credentials are no longer valid. */
export function whileValid(exchange: Exchange, credentials: CredentialWatch | undefined): Exchange {
  return credentials === undefined ? exchange : new ValidExchange(exchange, credentials);
}

/** A class, because a getter in an object literal would give every request a hidden class of its own. */
class ValidExchange implements Exchange {
  readonly #exchange: Exchange;
  readonly #credentials: CredentialWatch;

  constructor(exchange: Exchange, credentials: CredentialWatch) {
    this.#exchange = exchange;
    this.#credentials = credentials;
  }

  get method(): string {
    return this.#exchange.method;
  }

  get path(): string {
    return this.#exchange.path;
  }

  get query(): URLSearchParams {
    return this.#exchange.query;
  }

  get secure(): boolean {
    return this.#exchange.secure === true;
  }

  get headers(): Exchange["headers"] {
    return this.#exchange.headers;
  }

  get hosts(): readonly string[] {
    return this.#exchange.hosts;
  }

  get account(): Exchange["account"] {
    return this.#exchange.account;
  }

  get remote(): string | undefined {
    return this.#exchange.remote;
  }

  header(name: string): string | undefined {
    return this.#exchange.header(name);
  }

  body(maxBytes: number): Promise<string> {
    return this.#exchange.body(maxBytes);
  }

  reply(status: number, headers: Readonly<Record<string, string>>, text?: string): void {
    this.#exchange.reply(status, headers, text);
  }

  onGone(listener: () => void): () => void {
    return this.#exchange.onGone(listener);
  }

  stream(status: number, headers: Readonly<Record<string, string>>): Outlet {
    const outlet = this.#exchange.stream(status, headers);
    const stop = this.#credentials(() => outlet.abort());
    this.#exchange.onGone(stop);
    return {
      write: (...pieces) => outlet.write(...pieces),
      get backlog() {
        return outlet.backlog;
      },
      end() {
        stop();
        outlet.end();
      },
      abort() {
        stop();
        outlet.abort();
      },
    };
  }
}

/** Tells the observer of a listener, if there is one, that a request was refused. */
export function tellRefused({ observe, wire = "link" }: Pick<WireOptions, "observe" | "wire">, fault: Fault): void {
  if (observe !== undefined) notifyObserver(observe, "refusal", refusalOf(fault, { side: "listen", wire }, "refused"));
}

/** The URL of the metadata: at the origin of the resource, or else at the host of the request. */
function metadataUrl(exchange: Exchange, { metadata }: AuthOptions, path: string): string | undefined {
  if (metadata === undefined) return undefined;
  const resource = metadata["resource"];
  const named = typeof resource === "string" && /^https?:/i.test(resource) && URL.canParse(resource);
  const origin = named
    ? new URL(resource).origin
    : `${exchange.secure === true ? "https" : "http"}://${exchange.header("host") ?? exchange.header(":authority")}`;
  return `${origin}${METADATA_PATH}${path}`;
}
