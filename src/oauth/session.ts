import type { OAuthClientProvider, StoredOAuthTokens } from "@modelcontextprotocol/client";
import { Fault } from "../core/index.js";
import type { Challenge } from "../io/index.js";
import { machineFlow, personFlow } from "./flow.js";
import { guardedFetch } from "./guarded-fetch.js";
import { StoredProvider } from "./provider.js";
import type { Redirect } from "./redirect.js";
import { loadSdk, type Sdk } from "./sdk.js";
import { type Shared, shared } from "./shared.js";

export interface OAuthSessionOptions {
  provider(): Promise<OAuthClientProvider>;
  readonly redirect: Redirect;
  readonly patienceMs: number;
  readonly scopes?: readonly string[] | undefined;
}

/** The content of a challenge. */
type Said = ReturnType<Sdk["extractWWWAuthenticateParams"]>;

/** How many different scopes a server may ask for in sequence: it must not make a person sign in again and again. */
const STEPS = 16;

/** The credentials for one MCP server. */
export class OAuthSession {
  readonly #url: URL;
  readonly #options: OAuthSessionOptions;
  readonly #signIn: Shared<boolean> = shared();
  #provider: Promise<OAuthClientProvider> | undefined;
  /** Every scope that a call needed. Each later sign-in asks for them too. */
  #needed: string | undefined;
  /** Scopes that were already asked for by stepping up: each only once, whatever was granted. */
  readonly #steps = new Set<string>();
  /** Undefined until the provider was asked. */
  #tokens: { readonly current: StoredOAuthTokens | undefined } | undefined;

  constructor(url: URL, options: OAuthSessionOptions) {
    this.#url = url;
    this.#options = options;
  }

  async headers({ method, url }: { readonly method: string; readonly url: URL }): Promise<Readonly<Record<string, string>>> {
    const tokens = (this.#tokens ??= { current: await (await this.#ready()).tokens() }).current;
    if (tokens === undefined) return {};
    const token = tokens.access_token;
    if (tokens.token_type.toLowerCase() !== "dpop") return { authorization: `Bearer ${token}` };
    const session = await (await this.#ready()).dpop?.();
    const proof = await session?.buildProof({ htm: method, htu: url, accessToken: token });
    return { authorization: `DPoP ${token}`, ...(proof === undefined ? undefined : { dpop: proof }) };
  }

  async challenged(challenge: Challenge): Promise<boolean> {
    const sdk = await loadSdk();
    const provider = await this.#ready();
    const response = responseOf(challenge);
    const said = sdk.extractWWWAuthenticateParams(response);
    if (sdk.isDpopNonceChallenge(response) && response.headers.has("dpop-nonce")) {
      (await provider.dpop?.())?.observeNonce(response, challenge.url);
      return true;
    }
    if (challenge.before.includes(challenge.status)) return false;
    if (challenge.status === 403 && said.error !== "insufficient_scope") return false;
    return this.#signIn.join((signal) => this.#run(sdk, { challenge, said, signal }), challenge.signal);
  }

  /** Whether a scope is worth another sign-in. */
  #step({ scope = "" }: Said): boolean {
    if (this.#steps.has(scope) || this.#steps.size >= STEPS) return false;
    this.#steps.add(scope);
    return true;
  }

  async #run(sdk: Sdk, { challenge, said, signal }: { challenge: Challenge; said: Said; signal: AbortSignal }): Promise<boolean> {
    const provider = await this.#ready();
    const current = await provider.tokens();
    this.#tokens = { current };
    // Another request, or another process, may have signed in since this one was sent.
    if (current !== undefined && challenge.sent["authorization"]?.endsWith(` ${current.access_token}`) !== true) return true;
    const step = challenge.status === 403;
    if (step && !this.#step(said)) return false;
    const granted = current?.scope;
    if (step) this.#needed = sdk.computeScopeUnion(this.#needed, granted, said.scope);
    // Many servers name no scopes when a token has expired. Then the previous ones are asked for.
    const scope = sdk.computeScopeUnion(this.#needed, said.scope ?? granted, this.#options.scopes?.join(" "));
    const guarded = guardedFetch(this.#url);
    const asked = {
      serverUrl: this.#url,
      fetchFn: (url: string | URL, init?: RequestInit) => guarded(url, { ...init, signal }),
      ...(said.resourceMetadataUrl === undefined ? undefined : { resourceMetadataUrl: said.resourceMetadataUrl }),
      ...(scope === undefined ? undefined : { scope }),
    };
    const flow = { sdk, asked, signal, more: step && sdk.isStrictScopeSuperset(scope, granted) };
    try {
      if (provider instanceof StoredProvider) await personFlow(provider, { ...flow, ...this.#options });
      else await machineFlow(provider, flow);
    } catch (error) {
      throw signInFault(error, this.#url);
    }
    this.#tokens = { current: await provider.tokens() };
    return true;
  }

  #ready(): Promise<OAuthClientProvider> {
    this.#provider ??= this.#options.provider();
    return this.#provider;
  }
}

/** Only what the helpers of the official client read. */
function responseOf({ status, header }: Challenge): Response {
  const headers = new Headers();
  for (const name of ["www-authenticate", "dpop-nonce"]) {
    const value = header(name);
    if (value !== undefined) headers.set(name, value);
  }
  return new Response(null, { status, headers });
}

/** A failed sign-in always gives this fault. Control characters are removed from the server's text. */
function signInFault(error: unknown, server: URL): Fault {
  const inner = error instanceof TypeError && error.cause instanceof Fault ? error.cause : error;
  const said = (inner instanceof Error ? inner.message : String(inner)).replaceAll(/\p{Cc}/gu, " ").slice(0, 500);
  return new Fault("unauthenticated", `cannot sign in for ${server.origin}: ${said}`, {
    cause: inner,
    data: inner instanceof Fault ? inner.data : { reason: "failed" },
  });
}
