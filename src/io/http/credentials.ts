import { type CredentialWatch, defaultTimeouts, Fault } from "../../core/index.js";
import { within } from "../../stream/index.js";
import type { Exchange } from "./exchange.js";

/** Who a bearer token stands for. */
export interface Principal {
  readonly id: string;
  readonly scopes?: readonly string[];
  /** When the token stops being valid, in epoch milliseconds: a stream that it opened ends then, unless `verify` says otherwise. */
  readonly expiresAt?: number;
}

export interface AuthOptions {
  /**
   * Turns a bearer token into who it stands for; undefined, or an error thrown, if it is not valid here: expired, of another
   * issuer, for another audience.
   */
  verify(token: string): Promise<Principal | undefined> | Principal | undefined;
  /** A header that may have the token too, such as `x-api-key`; names in lower case. */
  readonly tokenHeader?: string | undefined;
  /** Milliseconds after which the token of a stream that is still open is verified again; 60,000 unless given. */
  readonly recheckMs?: number;
  /** Scopes that every call needs. */
  readonly scopes?: readonly string[];
  /** The protected-resource metadata (RFC 9728) to serve: at least `resource` and `authorization_servers`. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

export const METADATA_PATH = "/.well-known/oauth-protected-resource";

export type CredentialVerdict =
  | { readonly principal: Principal; readonly watch: CredentialWatch }
  | { readonly refused: "unauthenticated" | "denied"; readonly challenge: string };

/** Looks at the credentials of every request. A token in the query is not looked at. */
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
  // Whoever has to get a token should know what it has to be good for, also where it had one.
  const needed: Record<string, string> = scope === undefined ? {} : { scope };
  const named = auth.tokenHeader === undefined ? undefined : exchange.header(auth.tokenHeader);
  const token = /^bearer +(\S+)$/i.exec(exchange.header("authorization") ?? "")?.[1] ?? named;
  if (token === undefined) return { refused: "unauthenticated", challenge: challenge(needed) };
  const principal = await verified(token, auth);
  if (principal === undefined || isExpired(principal))
    return { refused: "unauthenticated", challenge: challenge({ error: "invalid_token", ...needed }) };
  // Every required scope is named, not only the missing one: the client has to ask for them all again.
  if (!suffices(principal, auth)) return { refused: "denied", challenge: challenge({ error: "insufficient_scope", scope: scope ?? "" }) };
  return { principal, watch: (lost) => watchToken(token, principal, auth, lost) };
}

/** The fault of a call whose credentials were refused, where the wire has no headers to say so. */
export function refusedCredentials(
  { refused, challenge }: Extract<CredentialVerdict, { readonly refused: string }>,
  { scopes }: AuthOptions,
): Fault {
  const why = refused === "unauthenticated" ? "the call needs valid credentials" : `the call needs the scopes ${scopes?.join(" ") ?? ""}`;
  return new Fault(refused, why, { data: { challenge } });
}

function suffices({ scopes }: Principal, auth: AuthOptions): boolean {
  return auth.scopes?.every((name) => scopes?.includes(name) === true) ?? true;
}

function isExpired({ expiresAt = Number.POSITIVE_INFINITY }: Principal): boolean {
  return expiresAt <= Date.now();
}

const RECHECK_MS = defaultTimeouts.recheckMs;

/** Verifies a token again when it expires, and every so often. It has to stand for the same principal, who is the stream's for good. */
function watchToken(token: string, principal: Principal, auth: AuthOptions, lost: (fault: Fault) => void): () => void {
  const { recheckMs = RECHECK_MS } = auth;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let stopped = false;
  const later = ({ expiresAt = Number.POSITIVE_INFINITY }: Principal): void => {
    timer = setTimeout(() => void again(), Math.max(0, Math.min(recheckMs, expiresAt - Date.now())));
    timer.unref?.();
  };
  const again = async (): Promise<void> => {
    let now: Principal | undefined;
    await within(
      verified(token, auth).then((said) => {
        now = said;
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

/** A verifier that throws has not said yes. */
async function verified(token: string, auth: AuthOptions): Promise<Principal | undefined> {
  try {
    return await auth.verify(token);
  } catch {
    return undefined;
  }
}
