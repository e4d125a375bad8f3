import {
  type Command,
  type Connection,
  fixedTimeouts,
  isObject,
  type Listener,
  type Replies,
  type Service,
  toFault,
} from "../../core/index.js";
import { type Exit, exitFault, grpcChannel, listenOnStdio, pipesSocket, startChild } from "../../io/index.js";
import { within } from "../../stream/index.js";
import { dialChannel } from "./dial/dial.js";
import type { GrpcDialOptions } from "./dial/options.js";
import { grpcMount } from "./listen/listen.js";
import type { GrpcListenOptions } from "./listen/options.js";

/** gRPC on this process's own stdin and stdout. Ends when the client closes them. */
export function listenGrpcStdio(service: Service, options: GrpcListenOptions): Promise<Listener> {
  return listenOnStdio("grpc+stdio:", grpcMount(service, options), options);
}

/** Starts a command and speaks gRPC with it on its stdin and stdout. */
export async function dialGrpcStdio(command: Command, options: GrpcDialOptions): Promise<Connection> {
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
  const channel = grpcChannel([{ duplex: () => duplex, authority: "localhost" }], {
    messageBytes: options.limits?.messageBytes,
    http2: options.http2,
  });
  const connection = await dialChannel(channel, options, false).catch(async (error) => {
    await child.stop();
    throw exit === undefined ? error : exitFault(exit, error);
  });
  const close = async (): Promise<void> => {
    await connection.close();
    await child.stop();
  };
  // A child without a connection is of no use.
  void connection.closed.then(() => child.stop());
  // The pipes may break before the reason is known.
  const explain = async (error: unknown): Promise<never> => {
    const { data } = toFault(error);
    if (!isObject(data) || data["reason"] !== "connection-lost") throw error;
    if (exit === undefined) await within(child.exited, fixedTimeouts.exitMs);
    throw exit === undefined ? error : exitFault(exit, error);
  };
  return {
    era: connection.era,
    protocolVersion: connection.protocolVersion,
    check: connection.check,
    closed: connection.closed.then((reason) => (reason === undefined || exit === undefined ? reason : exitFault(exit, reason))),
    call: (request, context) => explained(connection.call(request, context), explain),
    notify: (notification, context) => connection.notify(notification, context),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Replies whose fault `explain` replaces with a better one. */
function explained(inner: Replies, explain: (error: unknown) => Promise<never>): Replies {
  const replies: Replies = {
    next: () => inner.next().catch(explain),
    return: () => inner.return(),
    [Symbol.asyncIterator]: () => replies,
  };
  return replies;
}
