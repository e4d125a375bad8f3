import { type CredentialWatch, Fault, refusalOf, refusedStatus, tell, toFault, type WireOptions } from "../../core/index.js";
import { type AuthOptions, checkCredentials, METADATA_PATH } from "./credentials.js";
import type { Exchange } from "./exchange.js";
import { corsHeaders, type GuardOptions, preflightHeaders, refusal } from "./guard.js";
import { forwardedBy } from "./trusted-proxy.js";

export interface GateOptions extends GuardOptions, Pick<WireOptions, "observe" | "wire"> {
  readonly auth?: AuthOptions | undefined;
}

/** Someone let in, or the answer for someone who is not: sent before anything else of the request is looked at. */
export type Admission =
  | {
      readonly principal: string | undefined;
      readonly headers: Readonly<Record<string, string>>;
      /** For whoever opens a stream that outlives the request. */
      readonly credentials?: CredentialWatch;
    }
  | { readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly text: string };

/** What every wire on HTTP asks first: Host and Origin, the metadata of RFC 9728, a preflight, the credentials. */
export async function admit(exchange: Exchange, options: GateOptions, path: string): Promise<Admission> {
  const refused = refusal(exchange, options);
  if (refused !== undefined) {
    const fault = new Fault("denied", refused);
    tellRefused(options, fault);
    return { status: refusedStatus(fault), headers: {}, text: refused };
  }
  const headers = corsHeaders(exchange);
  const { auth } = options;
  if (auth?.metadata !== undefined && exchange.path.startsWith(METADATA_PATH))
    return { status: 200, headers: { ...headers, "content-type": "application/json" }, text: JSON.stringify(auth.metadata) };
  if (exchange.method === "OPTIONS") return { status: 204, headers: preflightHeaders(exchange), text: "" };
  const user = namedBy(exchange, options);
  if (user instanceof Fault) {
    tellRefused(options, user);
    return { status: refusedStatus(user), headers, text: user.message };
  }
  if (auth === undefined || user !== undefined) return { principal: user, headers };
  const verdict = await checkCredentials(exchange, auth, metadataUrl(exchange, auth, path));
  if ("refused" in verdict) {
    const fault = new Fault(verdict.refused, "the credentials are missing or not sufficient");
    tellRefused(options, fault);
    return { status: refusedStatus(fault), headers: { ...headers, "www-authenticate": verdict.challenge }, text: "" };
  }
  exchange.principal = verdict.principal.id;
  return { principal: verdict.principal.id, headers, credentials: verdict.watch };
}

/** The user that a trusted proxy names. From here on the exchange comes from whom the proxy had it from. */
function namedBy(exchange: Exchange, { trustedProxy }: GateOptions): string | undefined | Fault {
  if (trustedProxy === undefined) return undefined;
  try {
    const { remote, user } = forwardedBy(exchange, trustedProxy);
    exchange.remote = remote;
    exchange.principal = user;
    return user;
  } catch (error) {
    return toFault(error);
  }
}

/** An exchange whose streamed answer is cut when the credentials that it came with are no longer valid. */
export function whileValid(exchange: Exchange, credentials: CredentialWatch | undefined): Exchange {
  if (credentials === undefined) return exchange;
  const { method, path, secure } = exchange;
  return {
    method,
    path,
    ...(secure === undefined ? undefined : { secure }),
    get query() {
      return exchange.query;
    },
    get headers() {
      return exchange.headers;
    },
    get hosts() {
      return exchange.hosts;
    },
    get account() {
      return exchange.account;
    },
    get remote() {
      return exchange.remote;
    },
    header: (name) => exchange.header(name),
    body: (maxBytes) => exchange.body(maxBytes),
    reply: (status, headers, text) => exchange.reply(status, headers, text),
    onGone: (listener) => exchange.onGone(listener),
    stream(status, headers) {
      const outlet = exchange.stream(status, headers);
      const stop = credentials(() => outlet.abort());
      exchange.onGone(stop);
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
    },
  };
}

/** Tells the observer of a listener, if there is one, of a request that its wire turned away. */
export function tellRefused({ observe, wire = "link" }: Pick<WireOptions, "observe" | "wire">, fault: Fault): void {
  if (observe !== undefined) tell(observe, "refusal", refusalOf(fault, { side: "listen", wire }, "refused"));
}

/** Where the metadata is: at the origin of the resource, or else at the host that was asked. */
function metadataUrl(exchange: Exchange, { metadata }: AuthOptions, path: string): string | undefined {
  if (metadata === undefined) return undefined;
  const resource = metadata["resource"];
  const named = typeof resource === "string" && /^https?:/i.test(resource) && URL.canParse(resource);
  const origin = named
    ? new URL(resource).origin
    : `${exchange.secure === true ? "https" : "http"}://${exchange.header("host") ?? exchange.header(":authority")}`;
  return `${origin}${METADATA_PATH}${path}`;
}
