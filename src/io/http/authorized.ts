import { lowerCase } from "../../core/index.js";
import type { HttpClient, HttpSendOptions } from "./request.js";
import type { Sent } from "./sent.js";

/** A request that needs credentials. */
export interface AuthRequest {
  readonly method: string;
  readonly url: URL;
  /** The dialed address that the credentials are for. Requests may also go to other URLs of the same server. */
  readonly resource?: URL | undefined;
}

/** Adds credentials to requests, and reacts when a request is refused. It is asked for every request of a connection. */
export interface HttpAuth {
  headers(request: AuthRequest): Promise<Readonly<Record<string, string>>>;
  /** Whether to send the refused request again. Rejects with the Fault that the request should end with. */
  challenged(challenge: Challenge): Promise<boolean>;
  /** Milliseconds that `challenged` may take, because a person has to sign in. A handshake waits that much longer. */
  readonly patienceMs?: number | undefined;
}

/** A request that was answered with 401 or 403. */
export interface Challenge {
  readonly status: 401 | 403;
  readonly url: URL;
  /** The dialed address, as in the request. */
  readonly resource?: URL | undefined;
  /** Returns a header of the answer. */
  header(name: string): string | undefined;
  /** The result of `headers` for this request. Somebody else may have renewed the credentials since. */
  readonly sent: Readonly<Record<string, string>>;
  /** The earlier refusals of the same request. */
  readonly before: readonly (401 | 403)[];
  /** Aborts when nobody waits for the request any more. */
  readonly signal?: AbortSignal | undefined;
}

/** The most retries, even if `challenged` keeps saying yes: a server that refuses everything must not keep a request going. */
const RETRIES = 3;
const REFUSAL_BYTES = 64 * 1024;

/** A client whose requests carry credentials. A refused request is sent again once there are better ones. */
export function authorized(client: HttpClient, auth: HttpAuth, resource?: URL): HttpClient {
  return {
    async send(method, url, options) {
      const before: (401 | 403)[] = [];
      for (;;) {
        const headers = await auth.headers({ method, url, resource });
        const sent = await client.send(method, url, withHeaders(options, headers));
        const { status } = sent;
        // Ending a session is not worth a sign-in.
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

function withHeaders(options: HttpSendOptions, added: Readonly<Record<string, string>>): HttpSendOptions {
  // Not by spreads, which would give every request a hidden class of its own.
  for (const _ in added) return Object.assign({}, options, { headers: Object.assign({}, options.headers, lowerCase(added)) });
  return options;
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
