import { Fault, type Listener } from "../../core/index.js";
import { divertConsole } from "../divert-console.js";
import type { Mount } from "./mount.js";
import { type Port, type PortOptions, port, portListener } from "./port.js";
import { pipesSocket } from "./standard-streams.js";

let listening = false;

/**
 * A mount on this process's own stdin and stdout, as its only HTTP/2 connection. It ends with them. Meanwhile `console` writes to stderr. A mount that
 * takes exchanges is served without `node:http2`, and its calls in flight may finish after the end of stdin.
 */
export async function listenOnStdio(address: string, mount: Mount, options: PortOptions): Promise<Listener> {
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
    const { stdin: input, stdout: output } = process;
    const carrier = mount.exchange === undefined ? { stream: await pipesSocket(input, output) } : { input, output };
    opened = await port(carrier, [mount], options);
  } catch (error) {
    over();
    throw error;
  }
  void opened.ended.then(over);
  return { ...portListener(opened, address), addresses: [{ wire: mount.wire, address }] };
}
