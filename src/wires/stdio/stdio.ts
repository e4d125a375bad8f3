import {
  type Address,
  type Connection,
  type DialOptions,
  Fault,
  isObject,
  type JsonObject,
  type Listener,
  type ListenOptions,
  listenerOf,
  type Service,
  type Wire,
} from "../../core/index.js";
import { dialLink, observedAs, renewing, ServedLinks } from "../../era/index.js";
import { type ChildLink, childLink, processLink } from "../../io/index.js";
import { heldLines } from "./held-lines.js";

/** Newline-delimited JSON-RPC on standard streams: listens on this process's own, dials by starting a child. */
export const stdio: Wire = {
  name: "stdio",
  accepts: (address) => (typeof address === "string" ? address.startsWith("stdio:") : (address.speaks ?? "stdio") === "stdio"),
  listen: (service, address, options) => listen(service, address, observedAs(options, "listen", "stdio")),
  dial: (address, options) => dial(address, observedAs(options, "dial", "stdio")),
};

async function listen(service: Service, address: Address, options: ListenOptions): Promise<Listener> {
  if (typeof address !== "string") throw new Fault("invalid-params", "a command can be dialed, not listened on; listen on stdio:");
  const link = processLink(options);
  const links = new ServedLinks(service, options);
  // Nobody can come back for what is parked.
  const served = links.add(link).finally(() => links.drain());
  return listenerOf("stdio:", () => links.drain(), served);
}

async function dial(address: Address, options: DialOptions): Promise<Connection> {
  if (typeof address === "string") throw new Fault("invalid-params", "stdio: can be listened on; to dial, give the command to start");
  const { limits, onStderr, observe } = options;
  const start = (hear: typeof onStderr): Promise<ChildLink> =>
    childLink(address, {
      ...(limits === undefined ? undefined : { limits }),
      ...(hear === undefined ? undefined : { onStderr: hear }),
      ...(observe === undefined ? undefined : { observe }),
    });
  const dialChild = async (hear: typeof onStderr, era = options.era): Promise<Connection> => {
    const first = await start(hear);
    const link = options.restart === undefined ? first : renewing<ChildLink>(first, { ...options, connect: () => start(onStderr) });
    return dialLink(link, { ...options, era });
  };
  try {
    return await dialChild(onStderr);
  } catch (error) {
    // Some legacy servers exit if anything comes before initialize. They are started again, without a probe.
    const first = exitOf(error);
    if ((options.era ?? "auto") !== "auto" || first === undefined) throw error;
    const stderr = heldLines(onStderr ?? ((line) => process.stderr.write(`${line}\n`)));
    try {
      const connection = await dialChild(stderr.put, "legacy");
      stderr.show();
      return connection;
    } catch (again) {
      const second = exitOf(again);
      const same = second !== undefined && second["code"] === first["code"] && second["signal"] === first["signal"];
      // Then the probe was not the reason, and the first run has already printed the true one.
      if (same) stderr.drop();
      else stderr.show();
      throw again;
    }
  }
}

/** How a child ended, if that is what failed. */
function exitOf(error: unknown): JsonObject | undefined {
  return error instanceof Fault && isObject(error.data) && error.data["reason"] === "exited" ? error.data : undefined;
}
