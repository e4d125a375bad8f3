import { createServer } from "node:http";
import { Fault, fixedTimeouts, toFault } from "../core/index.js";
import { boundPort } from "../io/index.js";

/** Listens on this machine for the browser to return from the authorization server. */
export interface Callback extends AsyncDisposable {
  readonly url: string;
  /** The parameters of the first answer with this state. Any other answer is refused, and the wait continues. */
  answer(state: string, signal: AbortSignal): Promise<URLSearchParams>;
}

/** Listens for a redirect URL on this machine, on the first free one of the given ports; 0 is any port. */
export async function callback({ hostname, pathname }: URL, ports: readonly number[]): Promise<Callback> {
  let waiting: { state: string; done(params: URLSearchParams): void } | undefined;
  const { signInRequestMs, signInPageMs } = fixedTimeouts;
  const server = createServer({ headersTimeout: signInRequestMs, requestTimeout: signInRequestMs }, (request, response) => {
    // Parsed by hand: a request line need not be a URL.
    const [path, query = ""] = (request.url ?? "").split("?", 2);
    const params = new URLSearchParams(query);
    const matches = request.method === "GET" && path === pathname && waiting !== undefined && params.get("state") === waiting.state;
    response.writeHead(matches ? 200 : 400, {
      "content-type": "text/plain; charset=utf-8",
      "referrer-policy": "no-referrer",
      "cache-control": "no-store",
      connection: "close",
    });
    response.end(matches ? "Signed in. You can close this page.\n" : "This is not the answer that is waited for.\n");
    if (!matches) return;
    waiting?.done(params);
    waiting = undefined;
  });
  server.maxConnections = 32;
  await listen(server, ports, hostname === "[::1]" ? "::1" : "127.0.0.1");
  return {
    url: `http://${hostname}:${boundPort(server)}${pathname}`,
    answer: (state, signal) =>
      new Promise((resolve, reject) => {
        const abort = (): void => {
          waiting = undefined;
          reject(new Fault("unauthenticated", "the sign-in took too long", { cause: signal.reason, data: { reason: "timeout" } }));
        };
        if (signal.aborted) return abort();
        signal.addEventListener("abort", abort, { once: true });
        waiting = {
          state,
          done(params) {
            signal.removeEventListener("abort", abort);
            resolve(params);
          },
        };
      }),
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      // The page may still be on its way to the browser. A connection that stays open is closed after a while.
      const timer = setTimeout(() => server.closeAllConnections(), signInPageMs);
      await closed;
      clearTimeout(timer);
    },
  };
}

async function listen(server: ReturnType<typeof createServer>, ports: readonly number[], host: string): Promise<void> {
  let last: unknown;
  for (const port of ports) {
    try {
      await new Promise<void>((resolve, reject) => {
        server.once("error", reject);
        server.listen(port, host, () => {
          server.off("error", reject);
          resolve();
        });
      });
      return;
    } catch (error) {
      last = error;
    }
  }
  throw new Fault("unavailable", `cannot listen on ${host} for the sign-in to come back: ${toFault(last).message}`, { cause: last });
}
