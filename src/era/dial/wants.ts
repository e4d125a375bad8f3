import { type Context, passesLevel, type Reply } from "../../core/index.js";

/** Whether a client wants a log entry of a level. A legacy client that named none wants all, a modern one wants none. */
export function wantsLevel({ logLevel, client }: Context, level: unknown): boolean {
  return logLevel === undefined ? client.era === "legacy" : passesLevel(level, logLevel);
}

/** Whether a client wants a reply: it may not want what is logged. */
export function wants(context: Context, reply: Reply): boolean {
  return reply.kind !== "log" || wantsLevel(context, reply.params["level"]);
}
