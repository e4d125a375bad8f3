import { execFileSync } from "node:child_process";
import { constants, openSync, rmSync } from "node:fs";
import { Socket } from "node:net";
import { type Address, Fault, type Listener, type Wire } from "anywire";
import { dialLink, type Link, observedAs, serveLink } from "anywire/era";
import { lineLink } from "anywire/wires/lines";

/** MCP on two named pipes, for one client at a time: `fifo:PATH`. Messages are lines, so that a line link is all it needs. */
export const namedPipe: Wire = {
  name: "named pipe",
  accepts: (address) => typeof address === "string" && address.startsWith("fifo:"),
  async listen(service, address, options): Promise<Listener> {
    const [requests, answers] = pathsOf(address);
    execFileSync("mkfifo", ["-m", "600", requests, answers]);
    const link = pipeLink(requests, answers);
    const closed = serveLink(service, link, observedAs(options, "listen", "named pipe")).catch((fault: Fault) => options.onFault?.(fault));
    const close = async (): Promise<void> => {
      await link.close();
      await closed;
      for (const path of [requests, answers]) rmSync(path, { force: true });
    };
    return { address: String(address), closed, close, [Symbol.asyncDispose]: close };
  },
  async dial(address, options) {
    const [requests, answers] = pathsOf(address);
    return dialLink(pipeLink(answers, requests), observedAs(options, "dial", "named pipe"));
  },
};

function pathsOf(address: Address): [requests: string, answers: string] {
  const path = String(address).slice("fifo:".length);
  return [`${path}.requests`, `${path}.answers`];
}

function pipeLink(from: string, to: string): Link {
  const readable = pipe(from, { readable: true, writable: false });
  const writable = pipe(to, { readable: false, writable: true });
  return lineLink(readable, writable, {
    onClose() {
      readable.destroy();
      writable.destroy();
    },
  });
}

/** Opened for both directions, because else opening waits until the other end is there. */
function pipe(path: string, direction: { readonly readable: boolean; readonly writable: boolean }): Socket {
  try {
    return new Socket({ fd: openSync(path, constants.O_RDWR | constants.O_NONBLOCK), ...direction });
  } catch (cause) {
    throw new Fault("unavailable", `cannot open the pipe ${path}`, { cause });
  }
}
