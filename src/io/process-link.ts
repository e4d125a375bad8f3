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
 * A link on this process's own stdin and stdout. It takes them over until it is closed, so there can be only one at a time. Meanwhile
 * `console` writes to stderr. Code that writes to `process.stdout` directly still garbles the link.
 */
export function processLink(options: ProcessLinkOptions = {}): Link {
  const restore = divertConsole();
  const { stdin, stdout } = process;
  const link = lineLink(stdin, stdout, {
    framing: options.framing,
    messageBytes: options.limits?.messageBytes,
    depth: options.limits?.depth,
    // Each bad message is answered with an error, so a client that does not read the errors is slowed down by them. It has no other link to
    // us.
    badMessages: Number.POSITIVE_INFINITY,
    onClose: () => {
      restore();
      // Both stay open for whoever uses them next. A paused stdin does not keep the process alive. It can be paused only a tick after its
      // listener was removed, when the stream has noticed that.
      process.nextTick(() => stdin.pause());
    },
  });
  return link;
}
