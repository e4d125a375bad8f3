import type { Listener } from "../../core/index.js";
import { takeStdio } from "../take-stdio.js";
import type { Mount } from "./mount.js";
import { type Port, type PortOptions, port, portListener } from "./port.js";
import { pipesSocket } from "./standard-streams.js";

/**
 * A mount on this process's own stdin and stdout, as its only HTTP/2 connection. It ends with them. Meanwhile `console` writes to stderr. A mount that
 * takes exchanges is served without `node:http2`, and its calls in flight may finish after the end of stdin.
 */
export async function listenOnStdio(address: string, mount: Mount, options: PortOptions): Promise<Listener> {
  const giveBack = takeStdio();
  let opened: Port | undefined;
  try {
    const { stdin: input, stdout: output } = process;
    const carrier = mount.exchange === undefined ? { stream: await pipesSocket(input, output) } : { input, output };
    opened = await port(carrier, [mount], options);
  } catch (error) {
    giveBack();
    throw error;
  }
  void opened.ended.then(giveBack);
  return { ...portListener(opened, address), addresses: [{ wire: mount.wire, address }] };
}
