import type { Link } from "../codec/index.js";
import type { Limits } from "../core/index.js";
import type { Framing } from "./framing.js";
import { lineLink } from "./line-link.js";
import { takeStdio } from "./take-stdio.js";

export interface ProcessLinkOptions {
  readonly limits?: Partial<Limits> | undefined;
  /** How messages are framed; as lines of JSON unless given. */
  readonly framing?: Framing | undefined;
}

/**
 * A link on this process's own stdin and stdout. It takes them over until it is closed, and throws a Fault if they are taken. Meanwhile
 * `console` writes to stderr. Code that writes to `process.stdout` directly still garbles the link.
 */
export function processLink(options: ProcessLinkOptions = {}): Link {
  const giveBack = takeStdio();
  const { stdin, stdout } = process;
  return lineLink(stdin, stdout, {
    framing: options.framing,
    messageBytes: options.limits?.messageBytes,
    depth: options.limits?.depth,
    // Each bad message is answered with an error, so a client that does not read the errors is slowed down by them. It has no other link to
    // us.
    badMessages: Number.POSITIVE_INFINITY,
    onClose: giveBack,
  });
}
