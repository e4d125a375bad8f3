import type { JsonObject } from "../json.js";
import type { CallToolResult } from "../protocol.js";
import type { Message } from "../service.js";
import type { Engine, EngineCallOptions } from "./engine.js";
import type { LogEntry, Progress } from "./options.js";
import { leavable, type Stream } from "./stream.js";

/** What happens in a tool call, in order; the result is the last. */
export type ToolEvent =
  | { readonly kind: "progress"; readonly progress: Progress }
  | { readonly kind: "log"; readonly entry: LogEntry }
  | { readonly kind: "note"; readonly note: Message }
  | { readonly kind: "result"; readonly result: CallToolResult };

export function streamTool(engine: Engine, params: JsonObject, callOptions: EngineCallOptions): Stream<ToolEvent> {
  const exchange = engine.exchange("tools/call", params, { ...callOptions, progress: true });
  async function* events(): AsyncGenerator<ToolEvent, undefined, undefined> {
    for (;;) {
      const step = await exchange.next();
      if (step.done === true) return;
      const reply = step.value;
      switch (reply.kind) {
        case "progress":
          yield { kind: "progress", progress: reply.params as Progress };
          break;
        case "log":
          yield { kind: "log", entry: reply.params as LogEntry };
          break;
        case "note":
          yield { kind: "note", note: { method: reply.method, params: reply.params } };
          break;
        case "result":
          yield { kind: "result", result: engine.complete(reply.value) as CallToolResult };
          return;
        default:
      }
    }
  }
  return leavable(events(), () => void exchange.return());
}
