import type { Link } from "../codec/index.js";
import type { Limits } from "../core/index.js";
import { divertConsole } from "./divert-console.js";
import type { Framing } from "./framing.js";
import { lineLink } from "./line-link.js";

export interface ProcessLinkOptions {
  readonly limits?: Partial<Limits> | undefined;
  /** How messages are framed; as lines of JSON unless given. */
  readonly framing?: Framing | undefined;
}

/**
 * A link on this process's own stdin and stdout, which it takes over until it is closed: there is one at a time.
 * While it lives `console` writes to stderr. Code that writes to `process.stdout` itself garbles the link; that is not prevented.
 */
export function processLink(options: ProcessLinkOptions = {}): Link {
  const restore = divertConsole();
  const { stdin, stdout } = process;
  const link = lineLink(stdin, stdout, {
    framing: options.framing,
    messageBytes: options.limits?.messageBytes,
    depth: options.limits?.depth,
    // Each is answered with an error, so a client that goes on without reading these is held up by them. It has no other link to us.
    badMessages: Number.POSITIVE_INFINITY,
    onClose: () => {
      restore();
      // Both stay open for whoever uses them next. A paused stdin does not keep the process alive; it can be
      // paused only a tick after its listener went, when the stream has taken note of that.
      process.nextTick(() => stdin.pause());
    },
  });
  return link;
}
