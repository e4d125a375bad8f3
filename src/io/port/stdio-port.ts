import { Fault, type Listener } from "../../core/index.js";
import { divertConsole } from "../divert-console.js";
import type { Mount } from "./mount.js";
import { type Port, type PortOptions, port, portListener } from "./port.js";
import { pipesSocket } from "./standard-streams.js";

export interface StdioPortOptions extends PortOptions {
  /** Whether calls in flight may finish after the end of stdin. By default they end. */
  readonly drainsAtEnd?: boolean | undefined;
}

let listening = false;

/**
 * A mount on this process's own stdin and stdout, as its only HTTP/2 connection. It ends with them. Meanwhile `console` writes to stderr.
 */
export async function listenOnStdio(address: string, mount: Mount, options: StdioPortOptions): Promise<Listener> {
  if (listening) throw new Fault("unavailable", "stdin and stdout are already listened on", { data: { reason: "in-use" } });
  listening = true;
  const restore = divertConsole();
  const over = (): void => {
    restore();
    listening = false;
    process.nextTick(() => process.stdin.pause());
  };
  let opened: Port | undefined;
  try {
    let atEnd = false;
    const onEnd = (): void => {
      atEnd = true;
      void opened?.close();
    };
    const stream = await pipesSocket(process.stdin, process.stdout, options.drainsAtEnd === true ? onEnd : undefined);
    opened = await port({ stream }, [mount], options);
    if (atEnd) onEnd();
  } catch (error) {
    over();
    throw error;
  }
  void opened.ended.then(over);
  return { ...portListener(opened, address), addresses: [{ wire: mount.wire, address }] };
}
