import {
  type Command,
  type Connection,
  Fault,
  fixedTimeouts,
  isObject,
  type Listener,
  MCP_PATH,
  type Service,
  toFault,
} from "../../core/index.js";
import { dialLink } from "../../era/index.js";
import { type Exit, exitFault, listenOnStdio, startChild, streamClient } from "../../io/index.js";
import { within } from "../../stream/index.js";
import { type HttpDialOptions, type HttpLink, httpLinkOf } from "./dial/link.js";
import { mirroring } from "./dial/mirror.js";
import { httpMount } from "./listen.js";
import type { HttpOptions } from "./options.js";
import { ToolHeaders } from "./tool-headers.js";

const url = new URL(MCP_PATH, "http://localhost");
const modernOnly = "http+stdio: is of the modern era; a legacy client or server speaks stdio:";

/**
 * Streamable HTTP over HTTP/2 on this process's own stdin and stdout. Only its parent can be the client, so Host, Origin and credentials
 * are not checked. After the end of stdin, calls in flight may finish.
 */
export async function listenHttpStdio(service: Service, options: HttpOptions): Promise<Listener> {
  if (options.eras?.includes("modern") === false) throw new Fault("unsupported-version", modernOnly);
  const open = { allowedHosts: ["*"], allowedOrigins: ["*"], auth: undefined };
  const mount = httpMount(service, { ...options, ...open, path: url.pathname, eras: ["modern"] });
  const { limits, headersMs } = options;
  return listenOnStdio("http+stdio:", mount, { limits, headersMs });
}

/** Starts a command and speaks Streamable HTTP with it on its stdin and stdout. */
export async function dialHttpStdio(command: Command, options: HttpDialOptions): Promise<Connection> {
  if (options.era === "legacy") throw new Fault("unsupported-version", modernOnly);
  const { onStderr, observe } = options;
  const child = await startChild(command, {
    ...(onStderr === undefined ? undefined : { onStderr }),
    ...(observe === undefined ? undefined : { observe }),
  });
  let exit: Exit | undefined;
  void child.exited.then((how) => {
    exit = how;
  });
  let link: HttpLink | undefined;
  const client = streamClient(child.stdout, child.stdin, {
    // The pipes may break before the reason is known.
    async explain(fault) {
      if (isStray(fault)) return fault;
      if (exit === undefined) await within(child.exited, fixedTimeouts.exitMs);
      return exit === undefined ? fault : exitFault(exit, fault);
    },
    onLost: (fault) => link?.lost(fault),
  });
  const tools = new ToolHeaders();
  link = httpLinkOf(url, { ...options, auth: undefined }, { tools, client: () => client });
  const connection = await dialLink(link, { ...options, era: "modern" }).catch(async (error) => {
    await child.stop({ now: true });
    throw toFault(error);
  });
  // A child without a connection is of no use.
  void connection.closed.then(() => child.stop());
  const made = mirroring(connection, tools);
  const close = async (): Promise<void> => {
    await made.close();
    await child.stop();
  };
  return {
    era: made.era,
    protocolVersion: made.protocolVersion,
    check: made.check,
    closed: made.closed,
    call: (request, context) => made.call(request, context),
    notify: (notification, context) => made.notify(notification, context),
    close,
    [Symbol.asyncDispose]: close,
  };
}

function isStray({ data }: Fault): boolean {
  return isObject(data) && data["reason"] === "stray-output";
}
