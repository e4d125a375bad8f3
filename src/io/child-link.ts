import { type Link, sharedStream } from "../codec/index.js";
import { type Command, defaultLimits, Fault, fixedTimeouts, type Limits } from "../core/index.js";
import { within } from "../stream/index.js";
import { type Child, type ChildOptions, startChild } from "./child.js";
import { exitFault } from "./exit-fault.js";
import type { Framing } from "./framing.js";
import { lineLink } from "./line-link.js";

export interface ChildLinkOptions extends ChildOptions {
  readonly limits?: Partial<Limits>;
  /** How messages are framed; as lines of JSON unless given. */
  readonly framing?: Framing | undefined;
}

/** A link whose peer is a child process. Closing it stops the child. */
export interface ChildLink extends Link {
  readonly child: Child;
}

/**
 * Starts a command and exchanges newline-delimited JSON-RPC with it, or messages framed as `framing` says. When the child ends, `incoming`
 * returns what it still wrote, then throws how it ended.
 */
export async function childLink(command: Command, options: ChildLinkOptions = {}): Promise<ChildLink> {
  const child = await startChild(command, options);

  /** A broken pipe is usually the first sign of an exit. A child that runs on without its pipes is of no use. */
  const onEnd = async (fault: Fault | undefined): Promise<Fault> => {
    const cause = fault ?? new Fault("unavailable", "the server closed its output", { data: { reason: "stdout-closed" } });
    if (cause.code !== "overload" && (await within(child.exited, fixedTimeouts.exitMs))) return exitFault(await child.exited);
    void child.stop({ now: true });
    link.finish(cause);
    return cause;
  };
  const link = lineLink(child.stdout, child.stdin, {
    framing: options.framing,
    messageBytes: options.limits?.messageBytes,
    // A message above the server's limit would end the link, with every other call on it.
    sendLength: options.limits?.messageBytes ?? defaultLimits.messageBytes,
    depth: options.limits?.depth,
    onEnd,
  });
  void child.exited.then((exit) => link.finish(exitFault(exit)));

  return {
    ...sharedStream,
    child,
    incoming: link.incoming,
    send: link.send,
    pace: link.pace,
    get backlog() {
      return link.backlog;
    },
    close: async (reason) => {
      await link.close(reason);
      await child.stop();
    },
  };
}
