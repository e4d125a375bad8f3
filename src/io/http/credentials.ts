import type { Exchange } from "./exchange.js";

/** Who a bearer token stands for. */
export interface Principal {
  readonly id: string;
  readonly scopes?: readonly string[];
}

export interface AuthOptions {
  /**
   * Turns a bearer token into who it stands for; undefined, or an error thrown, if it is not valid here: expired, of another
   * issuer, for another audience.
   */
  verify(token: string): Promise<Principal | undefined> | Principal | undefined;
  /** Scopes that every call needs. */
  readonly scopes?: readonly string[];
  /** The protected-resource metadata (RFC 9728) to serve: at least `resource` and `authorization_servers`. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

export const METADATA_PATH = "/.well-known/oauth-protected-resource";

export type Verdict = { readonly principal: Principal } | { readonly refused: "unauthenticated" | "denied"; readonly challenge: string };

/** Looks at the credentials of every request. A token in the query is not looked at. */
export async function checkCredentials(
  exchange: Pick<Exchange, "header">,
  auth: AuthOptions,
  metadataUrl: string | undefined,
): Promise<Verdict> {
  const challenge = (parts: Record<string, string>): string =>
    `Bearer ${Object.entries({ ...parts, ...(metadataUrl === undefined ? undefined : { resource_metadata: metadataUrl }) })
      .map(([name, value]) => `${name}="${value.replaceAll(/["\\]/g, "")}"`)
      .join(", ")}`;
  const scope = auth.scopes?.join(" ");
  // Whoever has to get a token should know what it has to be good for, also where it had one.
  const needed: Record<string, string> = scope === undefined ? {} : { scope };
  const token = /^bearer +(\S+)$/i.exec(exchange.header("authorization") ?? "")?.[1];
  if (token === undefined) return { refused: "unauthenticated", challenge: challenge(needed) };
  const principal = await verified(token, auth);
  if (principal === undefined) return { refused: "unauthenticated", challenge: challenge({ error: "invalid_token", ...needed }) };
  const missing = auth.scopes?.filter((name) => principal.scopes?.includes(name) !== true) ?? [];
  // Every required scope is named, not only the missing one: the client has to ask for them all again.
  if (missing.length > 0) return { refused: "denied", challenge: challenge({ error: "insufficient_scope", scope: scope ?? "" }) };
  return { principal };
}

/** A verifier that throws has not said yes. */
async function verified(token: string, auth: AuthOptions): Promise<Principal | undefined> {
  try {
    return await auth.verify(token);
  } catch {
    return undefined;
  }
}
