import {
  type Command,
  type Connection,
  Fault,
  isObject,
  type Listener,
  listenerOf,
  type Replies,
  type Service,
  toFault,
} from "../../core/index.js";
import { divertConsole, type Exit, grpcChannel, grpcDuplex, pipesSocket, startChild } from "../../io/index.js";
import { within } from "../../stream/index.js";
import { dialChannel } from "./dial/dial.js";
import type { GrpcDialOptions } from "./dial/options.js";
import { grpcService } from "./listen/listen.js";
import type { GrpcListenOptions } from "./listen/options.js";

/** Milliseconds in which a child whose pipes broke is known to have exited, if it has. */
const EXIT_MS = 100;

let listening = false;

/** gRPC on this process's own stdin and stdout; ends when the client closes them. */
export async function listenStdio(service: Service, options: GrpcListenOptions): Promise<Listener> {
  if (listening) throw new Fault("unavailable", "stdin and stdout are already listened on", { data: { reason: "in-use" } });
  listening = true;
  const restore = divertConsole();
  const served = grpcService(service, options, false);
  const duplex = await pipesSocket(process.stdin, process.stdout).catch((error) => {
    restore();
    listening = false;
    throw error;
  });
  const over = grpcDuplex(served.server, duplex).closed.then(async () => {
    await served.close();
    duplex.destroy();
    restore();
    listening = false;
    process.nextTick(() => process.stdin.pause());
  });
  const end = async (): Promise<void> => {
    await served.close();
    duplex.destroy();
    await over;
  };
  return listenerOf("grpc+stdio:", end, over);
}

/** Starts a command and speaks gRPC with it on its stdin and stdout. */
export async function dialStdio(command: Command, options: GrpcDialOptions): Promise<Connection> {
  const { onStderr, observe } = options;
  const child = await startChild(command, {
    ...(onStderr === undefined ? undefined : { onStderr }),
    ...(observe === undefined ? undefined : { observe }),
  });
  const duplex = await pipesSocket(child.stdout, child.stdin).catch(async (error) => {
    await child.stop();
    throw toFault(error);
  });
  let exit: Exit | undefined;
  void child.exited.then((how) => {
    exit = how;
    duplex.destroy();
  });
  const channel = grpcChannel([{ duplex: () => duplex, authority: "localhost" }], { messageBytes: options.limits?.messageBytes });
  const connection = await dialChannel(channel, options, false).catch(async (error) => {
    await child.stop();
    throw exit === undefined ? error : exitFault(exit, error);
  });
  const close = async (): Promise<void> => {
    await connection.close();
    await child.stop();
  };
  // A connection that broke leaves a child of no use.
  void connection.closed.then(() => child.stop());
  // The pipes may break before it is known why.
  const explain = async (error: unknown): Promise<never> => {
    const { data } = toFault(error);
    if (!isObject(data) || data["reason"] !== "connection-lost") throw error;
    if (exit === undefined) await within(child.exited, EXIT_MS);
    throw exit === undefined ? error : exitFault(exit, error);
  };
  return {
    era: connection.era,
    protocolVersion: connection.protocolVersion,
    closed: connection.closed.then((reason) => (reason === undefined || exit === undefined ? reason : exitFault(exit, reason))),
    call: (request, context) => explained(connection.call(request, context), explain),
    notify: (notification, context) => connection.notify(notification, context),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Replies whose fault somebody knows more about. */
function explained(inner: Replies, explain: (error: unknown) => Promise<never>): Replies {
  const replies: Replies = {
    next: () => inner.next().catch(explain),
    return: () => inner.return(),
    [Symbol.asyncIterator]: () => replies,
  };
  return replies;
}

function exitFault(exit: Exit, cause: unknown): Fault {
  const how = exit.signal === null ? `exited with code ${exit.code}` : `was killed by ${exit.signal}`;
  return new Fault("unavailable", `the server ${how}`, { cause, data: { reason: "exited", ...exit } });
}
