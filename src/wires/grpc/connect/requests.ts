import { type DescMethod, fromJsonString, type JsonReadOptions, toBinary } from "@bufbuild/protobuf";
import { holdsMore, MOST_VALUES, tooManyValues } from "../../../codec/index.js";
import { isText } from "../../../codec/mcpv1/index.js";
import { type Account, Fault, type Limits, WHOLE_PART } from "../../../core/index.js";
import type { NodeRequest } from "../../../io/index.js";
import { decompress, Inbox, type MessageCoding, type ReceivedMessages, tooLarge } from "../../../io/index.js";
import { concat, timerMs } from "../../../stream/index.js";
import { Body, tooLate } from "./body.js";
import type { RequestForm } from "./form.js";
import { textDecoder } from "./text.js";

export interface RequestOptions {
  readonly form: RequestForm;
  readonly method: DescMethod;
  readonly encoding: MessageCoding;
  readonly limits: Pick<Limits, "messageBytes" | "messageMs">;
  readonly json: Partial<JsonReadOptions>;
  readonly account: Account;
  readonly principal: string | undefined;
}

export interface RequestMessages {
  /** The messages as protobuf, whatever form they came in. */
  readonly messages: ReceivedMessages;
  /** Called when nobody reads any more. */
  close(): void;
}

/**
 * The messages of a request. Connect does not get them: it would turn every value of a message into objects, limited only by the bytes, and
 * then back into bytes for the handler.
 */
export function requestMessages(request: NodeRequest, options: RequestOptions): RequestMessages {
  const { form, method, json } = options;
  const { messages, close } = form.enveloped ? enveloped(request, options) : whole(request, options);
  const taken = streams(method) ? messages : only(messages);
  return { messages: form.binary ? taken : converted(taken, method, json), close };
}

function streams({ methodKind }: DescMethod): boolean {
  return methodKind === "bidi_streaming" || methodKind === "client_streaming";
}

/** The one message of a request, after the request has ended: clients take an earlier answer for a broken stream. */
async function* only(messages: ReceivedMessages): AsyncGenerator<readonly Uint8Array[]> {
  const all: Uint8Array[] = [];
  for await (const batch of messages) {
    all.push(...batch);
    if (all.length > 1) throw new Fault("invalid-request", "the call takes one message");
  }
  yield all;
}

async function* converted(
  messages: ReceivedMessages,
  method: DescMethod,
  json: Partial<JsonReadOptions>,
): AsyncGenerator<readonly Uint8Array[]> {
  for await (const batch of messages) for (const message of batch) yield [fromJson(method, message, json)];
}

/** The messages of a body in which each follows its length. */
function enveloped(request: NodeRequest, { form, method, encoding, limits, account, principal }: RequestOptions): RequestMessages {
  const { messageBytes, messageMs } = limits;
  const inbox = new Inbox({ messageBytes, messageMs, account, onEnd: (fault) => inbox.finish(fault), onLeave: () => {} });
  if (principal !== undefined) inbox.claim(principal);
  inbox.encoding = encoding;
  inbox.open(request);
  const decode = form.text ? textDecoder() : undefined;
  // Only a stream of requests may take its time.
  const late = streams(method) ? undefined : setTimeout(() => inbox.finish(tooLate(messageMs)), timerMs(messageMs));
  request.on("data", (chunk: Uint8Array) => {
    for (const piece of decode?.(chunk) ?? [chunk]) inbox.take(piece, false);
  });
  request.on("end", () => {
    clearTimeout(late);
    inbox.ended();
  });
  const gone = (): void => {
    clearTimeout(late);
    inbox.finish(new Fault("cancelled", "the client closed the request before its end"));
  };
  request.on("close", gone);
  request.on("error", gone);
  return {
    messages: inbox,
    close() {
      clearTimeout(late);
      inbox.stop(undefined);
    },
  };
}

/** The message of a body that is a single message. */
function whole(request: NodeRequest, { encoding, limits, account, principal }: RequestOptions): RequestMessages {
  const { messageBytes: limit, messageMs } = limits;
  const body = new Body(request, { ms: messageMs, held: account.hold(principal) });
  async function* messages(): AsyncGenerator<readonly Uint8Array[]> {
    if (Number(request.headers["content-length"]) > limit) throw tooLarge(limit);
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > limit) throw tooLarge(limit);
      chunks.push(chunk);
    }
    const message = concat(chunks);
    if (encoding === "identity" || bytes === 0) return yield [message];
    const held = account.hold(principal);
    try {
      yield [await decompress(encoding, message, { limit, grow: (sum) => held.count(bytes + sum, WHOLE_PART) })];
    } finally {
      held.free();
    }
  }
  return { messages: messages(), close: () => void body.return() };
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

function fromJson({ input }: DescMethod, bytes: Uint8Array, options: Partial<JsonReadOptions>): Uint8Array {
  try {
    const text = utf8.decode(bytes);
    // Every value takes at least one character, so a short text need not be counted.
    if (text.length > MOST_VALUES && holdsMore(text, MOST_VALUES)) throw tooManyValues();
    const message = fromJsonString(input, text, { ignoreUnknownFields: true, ...options });
    // JSON can express a lone surrogate. Protobuf strings cannot: the text would change.
    const half = halfPair(message);
    if (half !== undefined) throw new Fault("invalid-params", `${half} has half a surrogate pair`, { data: { path: half } });
    return toBinary(input, message);
  } catch (cause) {
    if (cause instanceof Fault) throw cause;
    const why = cause instanceof Error ? `: ${cause.message}` : "";
    throw new Fault("parse", `the message is no ${input.typeName} in JSON${why}`, { cause });
  }
}

/** The path of a text that is not valid Unicode. */
function halfPair(value: unknown): string | undefined {
  if (typeof value === "string") return isText(value) ? undefined : "";
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return undefined;
  for (const [name, member] of Object.entries(value)) {
    const inner = isText(name) ? halfPair(member) : "";
    if (inner !== undefined) return `${JSON.stringify(name).slice(1, -1)}${inner === "" ? "" : "."}${inner}`;
  }
  return undefined;
}
