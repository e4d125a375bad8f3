import { CrossAppAccessProvider, type OAuthClientProvider, requestJwtAuthorizationGrant } from "@modelcontextprotocol/client";
import type { JsonObject } from "anywire";
import { type HttpAuth, headless, memoryStore, type OAuthOptions, oauth } from "anywire/oauth";

/** A scenario of the official conformance suite: its name, and what it gives a client to sign in with. */
export interface AuthScenario {
  readonly name: string;
  readonly context: JsonObject;
}

/** The document that the suite's authorization servers know a client by. */
const METADATA_URL = "https://conformance-test.local/client-metadata.json";

/** The credentials that a client under test uses in a scenario. */
export async function conformanceAuth(scenario: AuthScenario): Promise<HttpAuth> {
  const text = (name: string): string => String(scenario.context[name] ?? "");
  const special: Readonly<Record<string, () => OAuthOptions | Promise<OAuthOptions>>> = {
    "auth/pre-registration": () => ({ client: { id: text("client_id"), secret: text("client_secret"), issuer: text("issuer") } }),
    "auth/client-credentials-basic": () => ({ credentials: { id: text("client_id"), secret: text("client_secret") } }),
    "auth/client-credentials-jwt": () => ({
      credentials: { id: text("client_id"), privateKey: text("private_key_pem"), algorithm: text("signing_algorithm") },
    }),
    "auth/wif-jwt-bearer": () => ({ credentials: { id: text("client_id"), assertion: () => text("valid_jwt") } }),
    "auth/enterprise-managed-authorization": async () => ({ provider: await managed(text) }),
    "auth/dpop": () => ({ dpop: true }),
    "auth/dpop-nonce": () => ({ dpop: true }),
  };
  return oauth({
    redirect: headless(),
    store: memoryStore(),
    clientMetadataUrl: METADATA_URL,
    ...(await special[scenario.name]?.()),
  });
}

/** A token of the enterprise's identity provider, exchanged for a grant at the server's authorization server. */
async function managed(text: (name: string) => string): Promise<OAuthClientProvider> {
  return new CrossAppAccessProvider({
    clientId: text("client_id"),
    clientSecret: text("client_secret"),
    async assertion(asked) {
      const grant = await requestJwtAuthorizationGrant({
        tokenEndpoint: text("idp_token_endpoint"),
        audience: asked.authorizationServerUrl,
        resource: asked.resourceUrl,
        idToken: text("idp_id_token"),
        clientId: text("idp_client_id"),
        ...(asked.scope === undefined ? undefined : { scope: asked.scope }),
        ...(asked.fetchFn === undefined ? undefined : { fetchFn: asked.fetchFn }),
      });
      return grant.jwtAuthGrant;
    },
  });
}
