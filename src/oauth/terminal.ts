import { callback } from "./callback.js";
import { openUrl } from "./open-url.js";
import type { Redirect } from "./redirect.js";

export interface TerminalOptions {
  /** The port on 127.0.0.1 that the browser returns to; any free one unless given. */
  readonly port?: number | undefined;
  /** Whether to start a browser; unless given, only if stderr is a terminal. */
  readonly open?: boolean | undefined;
  /** Prints where to sign in; to stderr unless given. */
  readonly print?: ((text: string) => void) | undefined;
}

/** Signs in from a terminal: prints the URL, opens a browser, and waits on 127.0.0.1 for it to return. */
export function terminal(options: TerminalOptions = {}): Redirect {
  const { open = process.stderr.isTTY === true, print = (text) => void process.stderr.write(text) } = options;
  return {
    async open(registered) {
      const known = registered.map((url) => Number(new URL(url).port)).filter((port) => port > 0);
      const back = await callback(options.port === undefined ? [...known, 0] : [options.port]);
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
