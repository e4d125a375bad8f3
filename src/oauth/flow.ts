import type { OAuthClientProvider, AuthOptions as SdkAuthOptions } from "@modelcontextprotocol/client";
import { Fault } from "../core/index.js";
import { deadline } from "../stream/index.js";
import { SignInNeeded, type StoredProvider, urisOf } from "./provider.js";
import type { Redirect } from "./redirect.js";
import type { Sdk } from "./sdk.js";

export type Asked = Omit<SdkAuthOptions, "authorizationCode" | "iss" | "forceReauthorization">;

export interface Flow {
  readonly sdk: Sdk;
  /** The request to the authorization server. */
  readonly asked: Asked;
  /** Whether more scopes are needed than a refresh can give. */
  readonly more: boolean;
  readonly signal: AbortSignal;
}

/** Gets tokens without a person, with the client's own credentials. */
export async function machineFlow(provider: OAuthClientProvider, { sdk, asked, more }: Flow): Promise<void> {
  const result = await sdk.auth(provider, { ...asked, forceReauthorization: more });
  if (result !== "AUTHORIZED")
    throw new Fault("unauthenticated", "a person has to sign in, which this provider does elsewhere", { data: { reason: "redirect" } });
}

/** Gets tokens by a refresh if possible. Otherwise sends a person to the authorization server. */
export async function personFlow(
  provider: StoredProvider,
  flow: Flow & { readonly redirect: Redirect; readonly patienceMs: number },
): Promise<void> {
  const { sdk, asked, redirect } = flow;
  if (!flow.more && (await refreshed(provider, flow))) return;
  using scope = deadline(flow.signal, flow.patienceMs);
  const registered = urisOf((await provider.kept())?.client) ?? [];
  await using visit = await redirect.open(registered);
  provider.begin(visit.redirectUrl);
  // Never a refresh here, because that was already tried.
  const result = await sdk.auth(provider, { ...asked, forceReauthorization: true });
  if (result === "AUTHORIZED") return;
  if (provider.authorizationUrl === undefined) throw new Fault("internal", "the official client gave no authorization URL");
  checkPage(provider.authorizationUrl);
  const state = provider.state();
  const answer = await visit.go(provider.authorizationUrl, { state, signal: scope.signal });
  const code = codeOf(answer, { sdk, provider, state });
  const iss = answer.get("iss");
  await sdk.auth(provider, { ...asked, authorizationCode: code, ...(iss === null ? undefined : { iss }) });
}

/** A server chooses the page, so no redirect handler may get a URL that a browser would run or read from the disk. */
function checkPage(url: URL): void {
  if (url.protocol === "https:" || url.protocol === "http:") return;
  throw new Fault("unauthenticated", `will not open an authorization page of scheme ${url.protocol}`, {
    data: { reason: "refused-scheme" },
  });
}

async function refreshed(provider: StoredProvider, { sdk, asked }: Flow): Promise<boolean> {
  provider.begin();
  if ((await provider.tokens())?.refresh_token === undefined) return false;
  try {
    return (await sdk.auth(provider, asked)) === "AUTHORIZED";
  } catch (error) {
    if (error instanceof SignInNeeded) return false;
    throw error;
  }
}

/** The code in an answer. State and issuer are checked before anything else. */
function codeOf(answer: URLSearchParams, { sdk, provider, state }: { sdk: Sdk; provider: StoredProvider; state: string }): string {
  if (answer.get("state") !== state)
    throw new Fault("unauthenticated", "the answer of the sign-in is not to this request: its state differs", {
      data: { reason: "state" },
    });
  const metadata = provider.discoveryState()?.authorizationServerMetadata;
  sdk.validateAuthorizationResponseIssuer({
    iss: answer.get("iss") ?? undefined,
    expectedIssuer: metadata?.issuer,
    issParameterSupported: metadata?.["authorization_response_iss_parameter_supported"] === true,
  });
  const code = answer.get("code");
  if (code !== null) return code;
  const said = [answer.get("error"), answer.get("error_description")].filter((part) => part !== null);
  throw new Fault("unauthenticated", said.join(": ") || "the answer has neither a code nor an error", { data: { reason: "refused" } });
}
