import { loadProtoJson, type MessageCodec, PROBE, type ProtoEncoding } from "../../codec/bufmcpv1/index.js";
import type { Incoming, Link, LinkMessage } from "../../codec/index.js";
import { clientInfo, type DialOptions, defaultTimeouts, Fault, fromRpcError, type JsonObject, toFault } from "../../core/index.js";
import { timerMs } from "../../stream/index.js";
import { eitherEncoding } from "./encodings.js";
import { continued, withIncoming } from "./incoming.js";
import { showsTokens } from "./tokens.js";

type Batches = AsyncIterator<readonly LinkMessage[], unknown>;

/** Thrown if the peer does not speak proto-mcp, or does not answer. */
export class NoProto extends Error {
  readonly fault: Fault;
  constructor(fault: Fault) {
    super(fault.message);
    this.fault = fault;
  }
}

const ID = 1;

export interface GreetOptions extends DialOptions {
  /** What the peer is shown in the metadata of requests. */
  readonly credentials?: Readonly<Record<string, string>> | undefined;
  /** The encodings that are offered, the best first; protobuf alone unless given. */
  readonly encodings?: readonly ProtoEncoding[] | undefined;
}

/**
 * Asks what a peer speaks, and returns a link for either era. A peer of base proto-mcp is a legacy server: its answer becomes the answer to
 * `initialize`. Rejects with NoProto if the peer does not speak proto-mcp.
 */
export async function greet(given: Link, codec: MessageCodec, options: GreetOptions): Promise<Link> {
  const { encodings } = options;
  const link = encodings === undefined ? given : eitherEncoding(given, codec);
  if (encodings !== undefined) codec.encodings = encodings;
  if (encodings?.includes("protobuf") === false) codec.json = await loadProtoJson();
  const batches = link.incoming[Symbol.asyncIterator]();
  const info = options.client?.info ?? clientInfo;
  try {
    await link.send({ jsonrpc: "2.0", id: ID, method: PROBE, params: { info, credentials: options.credentials } });
    const { answer, rest } = await inTime(answerIn(batches), options.probeMs ?? defaultTimeouts.probeMs);
    if (answer.kind === "error") throw fromRpcError(answer.error);
    if (answer.kind === "bad") throw answer.fault;
    if (codec.full === undefined) throw new Fault("parse", "the peer answered initialize_request with another payload than its answer");
    const shown = showsTokens(link, codec.full === true, options.credentials);
    if (codec.full === true) return withIncoming(shown, continued(rest, batches));
    return baseLink(shown, rest, batches, answer.value);
  } catch (error) {
    await link.close();
    if (error instanceof NoProto) throw error;
    const fault = toFault(error);
    throw isForeign(fault) ? new NoProto(fault) : fault;
  }
}

/** Whether a fault shows that the peer does not understand our message. */
function isForeign({ code, data }: Fault): boolean {
  const reason = (data as { readonly reason?: unknown } | undefined)?.reason;
  return code === "parse" || code === "overload" || code === "deadline" || (code === "unavailable" && reason !== undefined);
}

type ProbeAnswer = Extract<Incoming, { readonly kind: "result" | "error" | "bad" }>;

async function answerIn(batches: Batches): Promise<{ readonly answer: ProbeAnswer; readonly rest: readonly LinkMessage[] }> {
  for (;;) {
    const step = await batches.next();
    if (step.done === true) throw new Fault("unavailable", "the peer closed the connection", { data: { reason: "closed" } });
    const batch = step.value;
    const at = batch.findIndex(isAnswer);
    if (at >= 0) return { answer: batch[at] as ProbeAnswer, rest: batch.slice(at + 1) };
  }
}

/** Whether a message answers the question. A peer that does not understand it may not know its id. */
function isAnswer(message: LinkMessage): boolean {
  if (message.kind === "bad") return message.silent !== true && (message.answers ?? message.id ?? ID) === ID;
  return message.kind === "result" ? message.id === ID : message.kind === "error" && (message.id ?? ID) === ID;
}

async function inTime<T>(answer: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new NoProto(new Fault("deadline", `the peer said nothing within ${ms} ms`))), timerMs(ms));
  });
  answer.catch(() => {});
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
}

/** A link to a server of base proto-mcp, which allows one handshake: `initialize` is answered with its earlier answer. */
function baseLink(link: Link, rest: readonly LinkMessage[], batches: Batches, initialized: JsonObject): Link {
  let wake: () => void = () => {};
  const local: LinkMessage[] = [...rest];
  async function* incoming(): AsyncGenerator<readonly LinkMessage[]> {
    let pending: Promise<IteratorResult<readonly LinkMessage[], unknown>> | undefined;
    for (;;) {
      if (local.length > 0) yield local.splice(0);
      const woken = new Promise<undefined>((resolve) => {
        wake = () => resolve(undefined);
      });
      pending ??= batches.next();
      const step = await Promise.race([pending, woken]);
      if (step === undefined) continue;
      pending = undefined;
      if (step.done === true) return;
      yield step.value;
    }
  }
  return {
    ...link,
    incoming: incoming(),
    get backlog() {
      return link.backlog;
    },
    send(message, options) {
      if (Array.isArray(message) || !("id" in message) || !("method" in message) || message.method !== "initialize")
        return link.send(message, options);
      local.push({ kind: "result", id: message.id, value: initialized });
      wake();
      return Promise.resolve();
    },
  };
}
