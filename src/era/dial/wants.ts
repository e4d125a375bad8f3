import { type Context, passesLevel, type Reply } from "../../core/index.js";

/** Whether a client wants a log entry of a level. Without a level, a legacy client wants all entries, a modern one none. */
export function wantsLevel({ logLevel, client }: Context, level: unknown): boolean {
  return logLevel === undefined ? client.era === "legacy" : passesLevel(level, logLevel);
}

/** Whether a client wants a reply. Only log entries may be unwanted. */
export function wants(context: Context, reply: Reply): boolean {
  return reply.kind !== "log" || wantsLevel(context, reply.params["level"]);
}
