import { type CredentialWatch, defaultTimeouts, Fault } from "../../core/index.js";
import { timerMs, within } from "../../stream/index.js";
import type { Exchange } from "./exchange.js";

/** The principal that a bearer token stands for. */
export interface Principal {
  readonly id: string;
  readonly scopes?: readonly string[];
  /** When the token expires, in epoch milliseconds. A stream that it opened ends then, unless `verify` accepts the token again. */
  readonly expiresAt?: number;
}

export interface AuthOptions {
  /**
   * Returns the principal of a bearer token. Returns undefined or throws if the token is not valid here: expired, from another issuer, for
   * another audience. A Fault `overload` is told to the caller as it is: nothing is known about its token.
   */
  verify(token: string): Promise<Principal | undefined> | Principal | undefined;
  /** Another header that may carry the token, such as `x-api-key`, in lower case. */
  readonly tokenHeader?: string | undefined;
  /** Milliseconds after which the token of an open stream is verified again; 60,000 unless given. */
  readonly recheckMs?: number;
  /** Scopes that every call needs. */
  readonly scopes?: readonly string[];
  /** The protected-resource metadata (RFC 9728) to serve: at least `resource` and `authorization_servers`. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

export const METADATA_PATH = "/.well-known/oauth-protected-resource";

/** Why credentials were refused. `challenge`: what the caller has to show, if that would help. */
export interface RefusedCredentials {
  readonly refused: Fault;
  readonly challenge?: string | undefined;
}

export type CredentialVerdict = { readonly principal: Principal; readonly watch: CredentialWatch } | RefusedCredentials;

/** Checks the credentials of a request. A token in the query is ignored. */
export async function checkCredentials(
  exchange: Pick<Exchange, "header">,
  auth: AuthOptions,
  metadataUrl: string | undefined,
): Promise<CredentialVerdict> {
  const challenge = (parts: Record<string, string>): string =>
    `Bearer ${Object.entries({ ...parts, ...(metadataUrl === undefined ? undefined : { resource_metadata: metadataUrl }) })
      .map(([name, value]) => `${name}="${value.replaceAll(/["\\]/g, "")}"`)
      .join(", ")}`;
  const scope = auth.scopes?.join(" ");
  // A client that has to get a token should know the scopes that it needs, even if it already has a token.
  const needed: Record<string, string> = scope === undefined ? {} : { scope };
  const named = auth.tokenHeader === undefined ? undefined : exchange.header(auth.tokenHeader);
  const token = /^bearer +(\S+)$/i.exec(exchange.header("authorization") ?? "")?.[1] ?? named;
  if (token === undefined) return { refused: unauthenticated(), challenge: challenge(needed) };
  const principal = await verified(token, auth);
  if (principal instanceof Fault) return { refused: principal };
  if (principal === undefined || isExpired(principal))
    return { refused: unauthenticated(), challenge: challenge({ error: "invalid_token", ...needed }) };
  // All required scopes are named, not only the missing one: the client has to ask for all of them again.
  if (!suffices(principal, auth))
    return {
      refused: new Fault("denied", `the call needs the scopes ${scope ?? ""}`),
      challenge: challenge({ error: "insufficient_scope", scope: scope ?? "" }),
    };
  return { principal, watch: (lost) => watchToken(token, principal, auth, lost) };
}

function unauthenticated(): Fault {
  return new Fault("unauthenticated", "the call needs valid credentials");
}

/** The fault of a call whose credentials were refused, where the wire has no header for the challenge. */
export function refusedCredentials({ refused, challenge }: RefusedCredentials): Fault {
  return challenge === undefined ? refused : new Fault(refused.code, refused.message, { data: { challenge } });
}

function suffices({ scopes }: Principal, auth: AuthOptions): boolean {
  return auth.scopes?.every((name) => scopes?.includes(name) === true) ?? true;
}

function isExpired({ expiresAt = Number.POSITIVE_INFINITY }: Principal): boolean {
  return expiresAt <= Date.now();
}

const RECHECK_MS = defaultTimeouts.recheckMs;

/**
 * Verifies a token again when it expires, and at an interval. It must stand for the same principal, because that of a stream never changes.
 */
function watchToken(token: string, principal: Principal, auth: AuthOptions, lost: (fault: Fault) => void): () => void {
  const { recheckMs = RECHECK_MS } = auth;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let stopped = false;
  const later = ({ expiresAt = Number.POSITIVE_INFINITY }: Principal): void => {
    timer = setTimeout(() => void again(), timerMs(Math.max(0, Math.min(recheckMs, expiresAt - Date.now()))));
    timer.unref?.();
  };
  const again = async (): Promise<void> => {
    let now: Principal | undefined;
    await within(
      verified(token, auth).then((said) => {
        // Without an answer the stream ends: otherwise a token that was revoked could be kept alive by overloading the verifier.
        now = said instanceof Fault ? undefined : said;
      }),
      recheckMs,
    );
    if (stopped) return;
    if (now?.id === principal.id && suffices(now, auth) && !isExpired(now)) later(now);
    else lost(new Fault("unauthenticated", "the credentials of this stream are no longer valid", { data: { reason: "credentials" } }));
  };
  later(principal);
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}

/** A verifier that throws has not accepted the token. If it is overloaded, it has not refused it either. */
async function verified(token: string, auth: AuthOptions): Promise<Principal | Fault | undefined> {
  try {
    return await auth.verify(token);
  } catch (error) {
    return error instanceof Fault && error.code === "overload" ? error : undefined;
  }
}
