import { type Id, isId, namedCall, type OutgoingMessage } from "../codec/index.js";
import { isObject, type JsonObject, weigh } from "../core/index.js";
import { anywireKeys } from "../era/index.js";
import type { Received, TransportHooks } from "./link-transport.js";
import { type Pace, pace } from "./pace.js";

/** Methods whose results contain the server's capabilities. */
const greetings: ReadonlySet<string> = new Set(["initialize", "server/discover"]);
const PROGRESS = "notifications/progress";
/** Notifications that belong to no call, even if they were sent while a request was answered. */
const common: ReadonlySet<string> = new Set([
  "notifications/cancelled",
  "notifications/tools/list_changed",
  "notifications/prompts/list_changed",
  "notifications/resources/list_changed",
  "notifications/resources/updated",
]);

/**
 * What an SDK server needs on the link to its caller: it names the request that each message belongs to, so that the caller need not guess,
 * and it respects the caller's credit, which the SDK's own transports do not have.
 */
export function serverHooks(callBytes: number): TransportHooks {
  const paces = pace(callBytes);
  const greeting = new Set<Id>();
  return {
    receive(message) {
      if (message.kind === "request") {
        if (greetings.has(message.method)) greeting.add(message.id);
        return opened(message, paces);
      }
      if (message.kind !== "notification") return message;
      const id = namedCall(message.params);
      if (message.method === anywireKeys.credit) {
        if (id !== undefined) paces.grant(id, Number(message.params["messages"]) || 0);
        return undefined;
      }
      if (message.method === "notifications/cancelled" && id !== undefined) paces.release(id);
      return message;
    },
    send(message, related, pass) {
      if (!("method" in message)) {
        const { id } = message;
        if (id === null) return pass(message);
        const greets = greeting.delete(id) && "result" in message;
        return inTurn((go) => paces.last(id, go), greets ? { ...message, result: withWindow(message.result) } : message, pass);
      }
      const params: JsonObject = message.params ?? {};
      const call = message.method === PROGRESS ? params["progressToken"] : related;
      if (!isId(call) || common.has(message.method)) return pass(message);
      // Progress names its call by its token.
      const ready = message.method === PROGRESS ? message : { ...message, params: stamped(params, call) };
      return inTurn((go) => paces.take(call, "id" in message ? 0 : weigh(params), go), ready, pass);
    },
    end: () => paces.close(),
  };
}

/** Passes the message on when its turn comes, at once if nothing holds it back. */
function inTurn(
  wait: (go: () => void) => void,
  message: OutgoingMessage,
  pass: (message: OutgoingMessage) => Promise<void>,
): Promise<void> {
  return new Promise((resolve, reject) => wait(() => pass(message).then(resolve, reject)));
}

function opened(message: Extract<Received, { kind: "request" }>, paces: Pace): Received {
  const found = message.params["_meta"];
  if (!isObject(found) || found[anywireKeys.window] === undefined) return message;
  const { [anywireKeys.window]: window, ...others } = found;
  if (typeof window === "number" && window > 0) paces.open(message.id, window);
  const { _meta, ...rest } = message.params;
  return { ...message, params: Reflect.ownKeys(others).length > 0 ? { ...rest, _meta: others } : rest };
}

function stamped(params: JsonObject, call: Id): JsonObject {
  const kept = isObject(params["_meta"]) ? params["_meta"] : undefined;
  return { ...params, _meta: { ...kept, [anywireKeys.call]: call } };
}

/** Announces that this end respects credit. The dialing end removes it again. */
function withWindow(result: JsonObject): JsonObject {
  const capabilities = isObject(result["capabilities"]) ? result["capabilities"] : {};
  const extensions = isObject(capabilities["extensions"]) ? capabilities["extensions"] : {};
  return { ...result, capabilities: { ...capabilities, extensions: { ...extensions, [anywireKeys.window]: {} } } };
}
