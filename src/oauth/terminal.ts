import { Fault } from "../core/index.js";
import { callback } from "./callback.js";
import { openUrl } from "./open-url.js";
import type { Redirect } from "./redirect.js";

export interface TerminalOptions {
  /** The port on 127.0.0.1 that the browser returns to; any free one unless given. */
  readonly port?: number | undefined;
  /**
   * The whole URL that the browser returns to, if it is registered: `http:` and a loopback host, with any path. Without a port, any free
   * one is used. Unless given, `http://127.0.0.1/callback` with `port`.
   */
  readonly url?: string | undefined;
  /** Whether to start a browser; unless given, only if stderr is a terminal. */
  readonly open?: boolean | undefined;
  /** Prints where to sign in; to stderr unless given. */
  readonly print?: ((text: string) => void) | undefined;
}

/** Signs in from a terminal: prints the URL, opens a browser, and waits on this machine for it to return. */
export function terminal(options: TerminalOptions = {}): Redirect {
  const { open = process.stderr.isTTY === true, print = (text) => void process.stderr.write(text), port = 0 } = options;
  const base = loopbackUrl(options.url ?? `http://127.0.0.1:${port}/callback`);
  const wanted = Number(base.port);
  return {
    async open(registered) {
      const known = registered.map((url) => Number(new URL(url).port)).filter((port) => port > 0);
      const back = await callback(base, wanted > 0 ? [wanted] : [...known, 0]);
      return {
        redirectUrl: back.url,
        async go(url, { state, signal }) {
          print(`To sign in, open ${url.href}\n`);
          if (open) openUrl(url);
          return back.answer(state, signal);
        },
        [Symbol.asyncDispose]: () => back[Symbol.asyncDispose](),
      };
    },
  };
}

function loopbackUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === "http:" && /^(localhost|127\.0\.0\.1|\[::1\])$/.test(url.hostname)) return url;
  throw new Fault("invalid-params", `the browser cannot come back to ${JSON.stringify(text)}: give an http URL on localhost or 127.0.0.1`);
}
