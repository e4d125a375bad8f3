import type { OAuthClientMetadata, OAuthClientProvider } from "@modelcontextprotocol/client";
import { defaultTimeouts } from "../core/index.js";
import type { HttpAuth } from "../io/index.js";
import { type ClientCredentials, credentialsProvider } from "./credentials.js";
import { type RegisteredClient, StoredProvider } from "./provider.js";
import type { Redirect } from "./redirect.js";
import { loadSdk } from "./sdk.js";
import { OAuthSession } from "./session.js";
import { memoryStore, type TokenStore, tokenStore } from "./store.js";
import { terminal } from "./terminal.js";

export interface OAuthOptions {
  /** How a person signs in; in the terminal unless given. */
  readonly redirect?: Redirect | undefined;
  /** The credentials of a program. With these no person signs in. */
  readonly credentials?: ClientCredentials | undefined;
  /** A provider of the official client that needs no person. It replaces all other options. */
  readonly provider?: OAuthClientProvider | undefined;
  /** Where tokens are kept; in `tokenPath()` unless given. Tokens of `credentials` are not kept. */
  readonly store?: TokenStore | undefined;
  /** Scopes to ask for in addition to those that the server names. */
  readonly scopes?: readonly string[] | undefined;
  /** A client that was registered in advance. */
  readonly client?: RegisteredClient | undefined;
  /** The URL of this client's metadata document, which is its id at authorization servers that support it. */
  readonly clientMetadataUrl?: string | undefined;
  /** The client metadata for a dynamic registration. */
  readonly clientMetadata?: Partial<OAuthClientMetadata> | undefined;
  /** Asks for tokens that are bound to a key of this process (DPoP). They are kept only in a given `store`. */
  readonly dpop?: boolean | undefined;
  /** Milliseconds for a person to sign in; 300,000 unless given. */
  readonly patienceMs?: number | undefined;
}

/** Signs in at the authorization server that an MCP server names when it answers 401, and keeps the tokens. */
export function oauth(options: OAuthOptions = {}): HttpAuth {
  const {
    patienceMs = defaultTimeouts.patienceMs,
    redirect = terminal(),
    store = options.dpop === true ? memoryStore() : tokenStore(),
  } = options;
  const sessions = new Map<string, OAuthSession>();
  const sessionOf = (url: URL): OAuthSession => {
    let session = sessions.get(url.href);
    if (session === undefined) {
      session = new OAuthSession(url, { ...options, patienceMs, redirect, provider: () => providerFor(url, options, store) });
      sessions.set(url.href, session);
    }
    return session;
  };
  return {
    headers: (request) => sessionOf(request.resource ?? request.url).headers(request),
    challenged: (challenge) => sessionOf(challenge.resource ?? challenge.url).challenged(challenge),
    patienceMs,
  };
}

async function providerFor(url: URL, options: OAuthOptions, store: TokenStore): Promise<OAuthClientProvider> {
  if (options.provider !== undefined) return options.provider;
  if (options.credentials !== undefined) return credentialsProvider(options.credentials, options.scopes);
  return new StoredProvider({
    server: url.href,
    store,
    metadataUrl: options.clientMetadataUrl,
    client: options.client,
    dpop: options.dpop === true ? await (await loadSdk()).DpopSession.create() : undefined,
    metadata: {
      client_name: "Anywire",
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
      ...options.clientMetadata,
    },
  });
}
