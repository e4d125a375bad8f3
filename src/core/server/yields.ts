import type { JsonObject } from "../json.js";
import { type LogLevel, passesLevel } from "../methods.js";
import type { Context, LogReply, NoteReply, ProgressReply } from "../service.js";
import type { Question } from "./question.js";

/** What a handler that is a generator may yield. */
export type Yield = ProgressReply | LogReply | NoteReply | Question;

/** Reports how far the call has come. The numbers must rise. It is dropped unless the caller asked for progress. */
export function progress(done: number, total?: number, message?: string): ProgressReply {
  const params: Record<string, unknown> = { progress: done };
  if (total !== undefined) params["total"] = total;
  if (message !== undefined) params["message"] = message;
  return { kind: "progress", params };
}

/** A log entry of the call. It is dropped unless it passes the level that the caller asked for. */
export function log(level: LogLevel, data: unknown, logger?: string): LogReply {
  return { kind: "log", params: logger === undefined ? { level, data } : { level, logger, data } };
}

/** Any other notification of the call. */
export function note(method: string, params: JsonObject = {}): NoteReply {
  return { kind: "note", method, params };
}

/** Whether the caller receives a log entry. Without a level, a legacy caller gets `info` and up, a modern one gets nothing. */
export function wantsLog(reply: LogReply, context: Context): boolean {
  const threshold = context.logLevel ?? (context.client.era === "legacy" ? "info" : undefined);
  return threshold !== undefined && passesLevel(reply.params["level"], threshold);
}
