import type { OAuthClientProvider, StoredOAuthTokens } from "@modelcontextprotocol/client";
import { Fault } from "../core/index.js";
import { loadSdk } from "./sdk.js";

/** A program that signs in as itself: with a secret, a key, or an assertion of its platform. */
export type ClientCredentials = {
  readonly id: string;
  /** The authorization server that the credentials are for. Without it, the MCP server decides who gets them. */
  readonly issuer?: string | undefined;
} & (
  | { readonly secret: string }
  /** `private_key_jwt`: a PKCS #8 PEM or a JWK. */
  | { readonly privateKey: string | Record<string, unknown>; readonly algorithm: string }
  /** `jwt-bearer`: a JWT that someone else signed, such as a workload token. Called for each sign-in. */
  | { readonly assertion: () => string | Promise<string> }
);

export async function credentialsProvider(
  credentials: ClientCredentials,
  scopes: readonly string[] | undefined,
): Promise<OAuthClientProvider> {
  const { ClientCredentialsProvider, PrivateKeyJwtProvider } = await loadSdk();
  const common = {
    clientId: credentials.id,
    clientName: "Anywire",
    ...(credentials.issuer === undefined ? undefined : { expectedIssuer: credentials.issuer }),
    ...(scopes === undefined ? undefined : { scope: scopes.join(" ") }),
  };
  if ("secret" in credentials) return new ClientCredentialsProvider({ ...common, clientSecret: credentials.secret });
  if ("assertion" in credentials) return assertionProvider(credentials, scopes);
  return new PrivateKeyJwtProvider({ ...common, privateKey: credentials.privateKey, algorithm: credentials.algorithm });
}

function assertionProvider(
  { id, issuer, assertion }: { id: string; issuer?: string | undefined; assertion(): string | Promise<string> },
  scopes: readonly string[] | undefined,
): OAuthClientProvider {
  const grant = "urn:ietf:params:oauth:grant-type:jwt-bearer";
  let tokens: StoredOAuthTokens | undefined;
  const unused = (): never => {
    throw new Fault("internal", "an assertion needs no redirect");
  };
  return {
    redirectUrl: undefined,
    clientMetadata: {
      client_name: "Anywire",
      redirect_uris: [],
      grant_types: [grant],
      token_endpoint_auth_method: "none",
      ...(scopes === undefined ? undefined : { scope: scopes.join(" ") }),
    },
    clientInformation: () => ({ client_id: id, ...(issuer === undefined ? undefined : { issuer }) }),
    tokens: () => tokens,
    saveTokens(saved) {
      tokens = saved;
    },
    async prepareTokenRequest(scope) {
      return new URLSearchParams({ grant_type: grant, assertion: await assertion(), ...(scope === undefined ? undefined : { scope }) });
    },
    redirectToAuthorization: unused,
    saveCodeVerifier() {},
    codeVerifier: unused,
  };
}
