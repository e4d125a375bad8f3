import type { HttpClient } from "./request.js";
import type { Sent } from "./sent.js";

/** A request that needs credentials. */
export interface AuthRequest {
  readonly method: string;
  readonly url: URL;
  /** The address that was dialed, which the credentials are for, where requests go to other URLs of it too. */
  readonly resource?: URL | undefined;
}

/** What lets a request in, and what to do when it was not. Asked for every request of a connection. */
export interface HttpAuth {
  headers(request: AuthRequest): Promise<Readonly<Record<string, string>>>;
  /** Whether to send the refused request once more. Rejects with the Fault that the request shall end with. */
  challenged(challenge: Challenge): Promise<boolean>;
  /** Milliseconds that `challenged` may take, for a person who has to sign in: a handshake waits so much longer. */
  readonly patienceMs?: number | undefined;
}

/** A request was answered 401 or 403. */
export interface Challenge {
  readonly status: 401 | 403;
  readonly url: URL;
  /** The address that was dialed, as in the request. */
  readonly resource?: URL | undefined;
  /** A header of the answer. */
  header(name: string): string | undefined;
  /** What `headers` gave for the request: somebody else may have renewed it since. */
  readonly sent: Readonly<Record<string, string>>;
  /** The refusals of this very request before this one. */
  readonly before: readonly (401 | 403)[];
  /** Aborts when nobody waits for the request any more. */
  readonly signal?: AbortSignal | undefined;
}

/** However often `challenged` says yes: a server that refuses everything must not keep a request going. */
const RETRIES = 3;
const REFUSAL_BYTES = 64 * 1024;

/** A client whose requests carry credentials; one that is refused is sent again once these are better. */
export function authorized(client: HttpClient, auth: HttpAuth, resource?: URL): HttpClient {
  return {
    async send(method, url, options) {
      const before: (401 | 403)[] = [];
      for (;;) {
        const headers = await auth.headers({ method, url, resource });
        const sent = await client.send(method, url, { ...options, headers: { ...options.headers, ...headers } });
        const { status } = sent;
        // The end of a session is not worth a sign-in.
        if ((status !== 401 && status !== 403) || method === "DELETE" || before.length >= RETRIES) return sent;
        // Read now: the answer may be gone by the time a person has signed in.
        const refused = await keep(sent);
        const again = await auth.challenged({
          status,
          url,
          resource,
          header: (name) => sent.header(name),
          sent: headers,
          before: [...before],
          get signal() {
            return options.cancel?.signal;
          },
        });
        if (!again) return refused;
        before.push(status);
      }
    },
    close: () => client.close(),
  };
}

async function keep(sent: Sent): Promise<Sent> {
  const text = await sent.text(REFUSAL_BYTES).catch(() => "");
  return {
    status: sent.status,
    header: (name) => sent.header(name),
    body: (async function* () {
      yield new TextEncoder().encode(text);
    })(),
    text: async () => text,
    beat() {},
  };
}
