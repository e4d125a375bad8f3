import { COMPLETED, PROMPT_COMPLETION, WATCH, WATCHED } from "../../codec/mcpv1/index.js";
import {
  type Client,
  type Connection,
  type Context,
  createClient,
  Fault,
  guard,
  isObject,
  type JsonObject,
  type Layer,
  type McpClient,
  type Reply,
  resultOf,
  type Service,
  weigh,
} from "../../core/index.js";
import { concat, encodeBase64 } from "../../stream/index.js";

/** The most bytes of a resource that are sent along with the notice of its change. */
const CONTENTS_BYTES = 256 * 1024;

/** Adds the methods that `mcp.v1` has and the protocol lacks. They are built from the protocol's own. */
export const extras: Layer = (inner: Service): Service => ({
  call(request, context) {
    if (request.method === WATCH) return guard((own) => watch(inner, request.params, own), context);
    if (request.method === PROMPT_COMPLETION) return guard((own) => complete(inner, request.params, own), context);
    return inner.call(request, context);
  },
  notify: (notification, context) => inner.notify(notification, context),
});

/** Watches with the protocol's subscriptions, and lists again when the list has changed. */
async function* watch(service: Service, params: JsonObject, context: Context): AsyncGenerator<Reply, JsonObject> {
  const patterns = Array.isArray(params["uriPatterns"]) ? params["uriPatterns"].map(String) : [];
  if (patterns.length === 0) throw new Fault("invalid-params", "WatchResources needs at least one of uri_patterns");
  const client = await clientOf(service, context);
  const changes = client.watch(patterns, { includeInitial: params["includeInitial"] === true, signal: context.cancel.signal });
  try {
    for await (const { uri, change } of changes) {
      const contents = change === "deleted" ? undefined : await contentsOf(service, uri, context);
      const said: JsonObject = {
        uri,
        ...(change === "initial" ? undefined : { changeType: change }),
        timestamp: new Date().toISOString(),
        ...(contents === undefined ? undefined : { contents }),
      };
      yield { kind: "note", method: WATCHED, params: said };
    }
    return {};
  } finally {
    void changes.return();
  }
}

/** The first content of a resource, if it is small. Otherwise the reader fetches it. */
async function contentsOf(service: Service, uri: string, context: Context): Promise<JsonObject | undefined> {
  const replies = service.call({ method: "resources/read", params: { uri } }, context);
  let head: JsonObject | undefined;
  const chunks: (string | Uint8Array)[] = [];
  let bytes = 0;
  try {
    for (let step = await replies.next(); step.done !== true; step = await replies.next()) {
      const reply = step.value;
      if (reply.kind === "result") return head === undefined ? firstOf(reply.value) : withData(head, chunks);
      if (reply.kind === "ask") reply.ask.refuse(new Fault("unknown-method", "no client here can answer"));
      if (reply.kind === "content") {
        if (head !== undefined) break;
        head = reply.head;
      } else if (reply.kind === "chunk") {
        bytes += reply.data.length;
        if (bytes > CONTENTS_BYTES) return undefined;
        chunks.push(reply.data);
      }
    }
    return head === undefined ? undefined : withData(head, chunks);
  } catch {
    // The resource may be gone again. Its change is still reported.
    return undefined;
  } finally {
    void replies.return();
  }
}

function firstOf(result: JsonObject): JsonObject | undefined {
  const first: unknown = Array.isArray(result["contents"]) ? result["contents"][0] : undefined;
  return isObject(first) && weigh(first) <= CONTENTS_BYTES ? first : undefined;
}

function withData(head: JsonObject, chunks: readonly (string | Uint8Array)[]): JsonObject {
  if (chunks.every((chunk) => typeof chunk === "string")) return { ...head, text: chunks.join("") };
  return { ...head, blob: encodeBase64(concat(chunks.filter((chunk) => typeof chunk !== "string"))) };
}

/** The texts of a prompt, message by message. */
async function* complete(service: Service, params: JsonObject, context: Context): AsyncGenerator<Reply, JsonObject> {
  const result = await resultOf(service.call({ method: "prompts/get", params }, context));
  const messages = Array.isArray(result["messages"]) ? result["messages"] : [];
  for (const message of messages) {
    const content = isObject(message) ? message["content"] : undefined;
    if (isObject(content) && typeof content["text"] === "string")
      yield { kind: "note", method: COMPLETED, params: { token: content["text"], isFinal: false } };
  }
  yield { kind: "note", method: COMPLETED, params: { token: "", isFinal: true, finishReason: "stop" } };
  return {};
}

/** A client of the service that calls for a given caller. */
function clientOf(service: Service, { client, metadata }: Context): Promise<McpClient> {
  const caller: Client = { ...client, era: "modern" };
  const connection: Connection = {
    era: "modern",
    protocolVersion: caller.protocolVersion,
    closed: new Promise(() => {}),
    call: (request, context) => service.call(request, { ...context, client: caller, metadata }),
    notify: (notification, context) => service.notify(notification, { ...context, client: caller, metadata }),
    close: () => Promise.resolve(),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  return createClient(connection, {});
}
