import { type Address, type ConnectOptions, connect, type McpClient, toFault } from "../../api/index.js";
import type { HttpAuth, OAuthOptions } from "../../oauth/index.js";
import { httpUrl } from "./http-url.js";

export interface SignInOptions {
  /** Further options for the client that signs in. */
  readonly oauth?: OAuthOptions | undefined;
  /** The URL that the browser returns to. */
  readonly callbackUrl?: string | undefined;
  /** Prints where to sign in. */
  readonly print: (line: string) => void;
  /** Milliseconds for a person to sign in. */
  readonly patienceMs: number;
}

/** Connects, and signs in if the server answers 401. */
export function connectSigned(address: Address, settings: ConnectOptions, options: SignInOptions): Promise<McpClient> {
  return signedIn(address, settings.headers, (auth) => connect(address, auth === undefined ? settings : { ...settings, auth }), options);
}

/** Opens something at an address, and signs in if the server answers 401. OAuth is loaded only then. */
export async function signedIn<T>(
  address: Address,
  headers: Readonly<Record<string, unknown>> | undefined,
  open: (auth: HttpAuth | undefined) => Promise<T>,
  options: SignInOptions,
): Promise<T> {
  // If the user gave credentials, there are no others to try.
  const given = Object.hasOwn(headers ?? {}, "authorization");
  const url = typeof address === "string" ? httpUrl(address) : undefined;
  if (given || url === undefined) return open(undefined);
  const auth = new LateAuth(options);
  const opened = await open(auth).catch(async (error) => {
    if (toFault(error).code !== "unauthenticated" || auth.loaded) throw error;
    await auth.load(url);
    return open(auth);
  });
  auth.connected = true;
  return opened;
}

const none: Promise<Readonly<Record<string, string>>> = Promise.resolve({});

/** OAuth that is loaded at the first 401. */
class LateAuth implements HttpAuth {
  /** From now on a 401 is handled within its call. */
  connected = false;
  readonly #options: SignInOptions;
  #inner: HttpAuth | undefined;
  /** The credentials of an earlier run. Their refusal does not count as the refusal of new ones. */
  #kept: string | undefined;

  constructor(options: SignInOptions) {
    this.#options = options;
  }

  get loaded(): boolean {
    return this.#inner !== undefined;
  }

  /** Until the server has asked for a sign-in, there is no extra time for one. */
  get patienceMs(): number | undefined {
    return this.#inner?.patienceMs;
  }

  async load(url: URL): Promise<HttpAuth> {
    if (this.#inner !== undefined) return this.#inner;
    const { oauth, terminal } = await import("../../oauth/index.js");
    const { print, patienceMs, callbackUrl } = this.#options;
    const redirect = terminal({ print: (text) => print(text.trimEnd()), url: callbackUrl });
    const inner = oauth({ ...this.#options.oauth, redirect, patienceMs });
    this.#kept = (await inner.headers({ method: "POST", url }))["authorization"];
    this.#inner = inner;
    return inner;
  }

  headers(request: Parameters<HttpAuth["headers"]>[0]): Promise<Readonly<Record<string, string>>> {
    return this.#inner === undefined ? none : this.#inner.headers(request);
  }

  async challenged(challenge: Parameters<HttpAuth["challenged"]>[0]): Promise<boolean> {
    // Dialing fails, and is repeated with more time.
    if (!this.loaded && !this.connected) return false;
    const inner = await this.load(challenge.url);
    const sent = challenge.sent["authorization"];
    if (sent === undefined && this.#kept !== undefined) return true;
    return inner.challenged(sent === this.#kept ? { ...challenge, before: [] } : challenge);
  }
}
