import { randomBytes } from "node:crypto";
import type {
  DpopSession,
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import type { Kept, TokenStore } from "./store.js";

/** A client that the authorization server already knows. */
export interface RegisteredClient {
  readonly id: string;
  readonly secret?: string | undefined;
  /** The authorization server that knows it: the id and the secret are sent nowhere else. */
  readonly issuer?: string | undefined;
}

export interface ProviderOptions {
  readonly server: string;
  readonly store: TokenStore;
  readonly metadata: Omit<OAuthClientMetadata, "redirect_uris">;
  readonly metadataUrl?: string | undefined;
  readonly client?: RegisteredClient | undefined;
  /** The key that tokens are bound to. */
  readonly dpop?: DpopSession | undefined;
}

/** Thrown through the helpers of the official client when a refresh failed and a person has to sign in. */
export class SignInNeeded extends Error {}

/** A placeholder redirect URL: while tokens are refreshed, nobody is sent there. */
const NOWHERE = "http://127.0.0.1/callback";

/** What the helpers of the official client need from an application, on top of a token store. One flow at a time. */
export class StoredProvider implements OAuthClientProvider {
  readonly clientMetadataUrl?: string;
  /** Absent for a client that was registered in advance: at another issuer it must fail instead of being registered again. */
  readonly saveClientInformation?: (client: StoredOAuthClientInformation, context?: { issuer: string }) => Promise<void>;
  /** The URL of the authorization page, once the flow has reached it. */
  authorizationUrl: URL | undefined;
  readonly #options: ProviderOptions;
  #redirectUrl: string | undefined;
  #state = "";
  #verifier = "";
  #discovery: OAuthDiscoveryState | undefined;

  constructor(options: ProviderOptions) {
    this.#options = options;
    if (options.metadataUrl !== undefined) this.clientMetadataUrl = options.metadataUrl;
    if (options.client === undefined)
      this.saveClientInformation = async (client, context) => this.#put(context?.issuer ?? client.issuer, { client });
  }

  /** Resets the previous flow. Discovery is repeated, because a server may have moved to another authorization server. */
  begin(redirectUrl?: string): void {
    this.#redirectUrl = redirectUrl;
    this.#discovery = undefined;
    this.#state = randomBytes(32).toString("base64url");
    this.#verifier = "";
    this.authorizationUrl = undefined;
  }

  get redirectUrl(): string {
    return this.#redirectUrl ?? NOWHERE;
  }

  get clientMetadata(): OAuthClientMetadata {
    return { ...this.#options.metadata, redirect_uris: [this.redirectUrl] };
  }

  dpop(): DpopSession | undefined {
    return this.#options.dpop;
  }

  state(): string {
    return this.#state;
  }

  async clientInformation(context?: { issuer: string }): Promise<StoredOAuthClientInformation | undefined> {
    const { client } = this.#options;
    if (client !== undefined)
      return {
        client_id: client.id,
        ...(client.secret === undefined ? undefined : { client_secret: client.secret }),
        ...(client.issuer === undefined ? undefined : { issuer: client.issuer }),
      };
    const kept = (await this.kept(context?.issuer))?.client;
    if (this.#redirectUrl === undefined) {
      // The helper would register a client with a redirect URL that nobody listens on.
      if (kept === undefined) throw new SignInNeeded();
      return kept;
    }
    // A registration for another port is useless: the browser has to come back to this one.
    return urisOf(kept)?.includes(this.#redirectUrl) === false ? undefined : kept;
  }

  async tokens(context?: { issuer: string }): Promise<StoredOAuthTokens | undefined> {
    return (await this.kept(context?.issuer))?.tokens;
  }

  saveTokens(tokens: StoredOAuthTokens, context?: { issuer: string }): Promise<void> {
    return this.#put(context?.issuer ?? tokens.issuer, { tokens });
  }

  redirectToAuthorization(url: URL): void {
    if (this.#redirectUrl === undefined) throw new SignInNeeded();
    this.authorizationUrl = url;
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  codeVerifier(): string {
    return this.#verifier;
  }

  saveDiscoveryState(state: OAuthDiscoveryState): void {
    this.#discovery = state;
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#discovery;
  }

  async invalidateCredentials(scope: "all" | "client" | "tokens" | "verifier" | "discovery"): Promise<void> {
    const kept = await this.kept();
    if (kept === undefined || scope === "verifier" || scope === "discovery") return;
    const { client, tokens, ...rest } = kept;
    await this.#options.store.put(this.#options.server, scope === "tokens" && client !== undefined ? { ...rest, client } : rest);
    // The helper would continue by itself, and register a client with a redirect URL that nobody listens on.
    if (scope !== "client" && this.#redirectUrl === undefined) throw new SignInNeeded();
  }

  kept(issuer?: string): Promise<Kept | undefined> {
    return this.#options.store.get(this.#options.server, issuer);
  }

  async #put(issuer: string | undefined, part: Omit<Kept, "issuer">): Promise<void> {
    const { server, store } = this.#options;
    const name = issuer ?? (await store.get(server))?.issuer ?? new URL(server).origin;
    await store.put(server, { ...(await store.get(server, name)), ...part, issuer: name });
  }
}

/** The redirect URLs of a registered client; undefined if it was not registered dynamically. */
export function urisOf(client: StoredOAuthClientInformation | undefined): readonly string[] | undefined {
  return client !== undefined && "redirect_uris" in client && Array.isArray(client.redirect_uris) ? client.redirect_uris : undefined;
}
