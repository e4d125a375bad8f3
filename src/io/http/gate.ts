import { refusedStatus } from "../../core/index.js";
import { type AuthOptions, checkCredentials, METADATA_PATH } from "./credentials.js";
import type { Exchange } from "./exchange.js";
import { corsHeaders, type GuardOptions, preflightHeaders, refusal } from "./guard.js";

export interface GateOptions extends GuardOptions {
  readonly auth?: AuthOptions | undefined;
}

/** Someone let in, or the answer for someone who is not: sent before anything else of the request is looked at. */
export type Admission =
  | { readonly principal: string | undefined; readonly headers: Readonly<Record<string, string>> }
  | { readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly text: string };

/** What every wire on HTTP asks first: Host and Origin, the metadata of RFC 9728, a preflight, the credentials. */
export async function admit(exchange: Exchange, options: GateOptions, path: string): Promise<Admission> {
  const refused = refusal(exchange, options);
  if (refused !== undefined) return { status: refusedStatus({ code: "denied" }), headers: {}, text: refused };
  const headers = corsHeaders(exchange);
  const { auth } = options;
  if (auth?.metadata !== undefined && exchange.path.startsWith(METADATA_PATH))
    return { status: 200, headers: { ...headers, "content-type": "application/json" }, text: JSON.stringify(auth.metadata) };
  if (exchange.method === "OPTIONS") return { status: 204, headers: preflightHeaders(exchange), text: "" };
  if (auth === undefined) return { principal: undefined, headers };
  const verdict = await checkCredentials(exchange, auth, metadataUrl(exchange, auth, path));
  if ("refused" in verdict) {
    const status = refusedStatus({ code: verdict.refused });
    return { status, headers: { ...headers, "www-authenticate": verdict.challenge }, text: "" };
  }
  return { principal: verdict.principal.id, headers };
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
