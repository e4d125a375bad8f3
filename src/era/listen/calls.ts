import type { Id, OutgoingMessage } from "../../codec/index.js";
import {
  type Account,
  AMBIENT,
  CALL_BYTES,
  Canceller,
  type Client,
  type Context,
  type Era,
  Fault,
  isObject,
  type JsonObject,
  listMembers,
  meta,
  SMALL_BYTES,
  toFault,
  toRpcError,
  WHOLE_PART,
  weigh,
} from "../../core/index.js";
import { Registry, within } from "../../stream/index.js";
import type { CallEnvelope } from "../envelope.js";
import { forForeignPeer, withExtensions } from "../extensions.js";
import { PART_BYTES } from "../keys.js";
import { withModernMembers, withoutModernMembers } from "../modern-members.js";
import { answer } from "./answer.js";
import type { AnswerOptions, Job } from "./answer-options.js";
import type { AskClient } from "./ask-client.js";
import type { ServerInfo } from "./server-info.js";
import { Sink } from "./sink.js";

/**
 * Takes the answer to a request, once; undefined if no answer is wanted any more. `refused`: the service was not called. Never rejects.
 */
export type Respond = (message: OutgoingMessage | undefined, refused?: true) => Promise<void>;

/** A request for the service to answer. */
export interface CallStart {
  readonly id: Id;
  readonly envelope: CallEnvelope;
  readonly client: Client;
  /** The era of the link. Between Anywire ends it may carry a call for a client of the other era. */
  readonly era: Era;
  readonly logLevel: string | undefined;
  readonly asks: AskClient | undefined;
  /** Whether the client gets results exactly as its server made them. */
  readonly neutral: boolean;
  readonly respond: Respond;
  /** About how many bytes of memory the request takes. */
  readonly bytes: number;
  /** Replaces the metadata of the link, if the request has headers of its own. */
  readonly metadata: Context["metadata"] | undefined;
  /** Called when the call has ended. */
  release(): void;
}

export interface CallsOptions {
  readonly account: Account;
  readonly metadata: Context["metadata"];
  /** The versions in the result of discover. */
  readonly versions: readonly string[];
  readonly deadline: number | undefined;
  readonly endless: ReadonlySet<string> | undefined;
}

/** The calls of one link that are being answered. */
export class Calls {
  readonly #account: Account;
  readonly #answerOptions: AnswerOptions;
  readonly #info: ServerInfo;
  readonly #metadata: Context["metadata"];
  readonly #versions: readonly string[];
  readonly #deadline: number | undefined;
  readonly #endless: ReadonlySet<string> | undefined;
  readonly #live = new Registry<{ readonly id: Id; readonly cancel: Canceller; readonly sink: Sink }>();
  /** Subscriptions and other calls without an end. The two sets are made on first use: some wires make a link for every request. */
  #running: Set<Promise<void>> | undefined;
  #held = 0;
  #idle: Set<() => void> | undefined;
  /** The reason why open calls are now answered with an error. */
  #failing: Fault | undefined;

  constructor(answerOptions: AnswerOptions, info: ServerInfo, { account, metadata, versions, deadline, endless }: CallsOptions) {
    this.#account = account;
    this.#answerOptions = answerOptions;
    this.#info = info;
    this.#metadata = metadata;
    this.#versions = versions;
    this.#deadline = deadline;
    this.#endless = endless;
  }

  /** Calls that are being answered. */
  get open(): number {
    return this.#live.size;
  }

  has(id: Id): boolean {
    return this.#live.has(id);
  }

  start({ id, envelope, client, era, logLevel, asks, neutral, respond, release, bytes, metadata }: CallStart): void {
    const cancel = new Canceller();
    const sink = new Sink({ id, envelope, modern: era === "modern", answerOptions: this.#answerOptions });
    this.#live.set(id, { id, cancel, sink });
    const { progressToken, trace, pageSize } = envelope;
    // Members are added one by one, because spreading optional ones costs more.
    const context: Writable<Context> = { client, cancel, progress: progressToken !== undefined, metadata: metadata ?? this.#metadata };
    if (logLevel !== undefined) context.logLevel = logLevel;
    if (this.#deadline !== undefined) context.deadline = this.#deadline;
    if (trace !== undefined) context.trace = trace;
    if (pageSize !== undefined) context.pageSize = pageSize;
    if (envelope.onePage) context.onePage = true;
    if (envelope.chunked !== undefined) context.range = envelope.chunked;
    const held = this.#account.hold(client.identity.principal);
    const over = held.begin() ?? held.count(CALL_BYTES + bytes, bytes > SMALL_BYTES ? WHOLE_PART : 1);
    const running = this.#run({ id, envelope, client, era, context, cancel, sink, held, asks, neutral }, over, respond, release);
    const { method } = envelope.request;
    if (method !== "subscriptions/listen" && method !== AMBIENT && this.#endless?.has(method) !== true) return this.hold(running);
    const all = (this.#running ??= new Set());
    all.add(running);
    void running.finally(() => all.delete(running));
  }

  /** Counts something as being answered until it settles. */
  hold(answering: Promise<void>): void {
    this.#held++;
    void answering.then(this.#settled, this.#settled);
  }

  readonly #settled = (): void => {
    if (--this.#held > 0 || this.#idle === undefined) return;
    for (const tell of this.#idle) tell();
    this.#idle.clear();
  };

  /** Resolves when everything is answered, or after `ms`. */
  async idle(ms: number): Promise<void> {
    if (this.#held === 0) return;
    await within(this.#answered(), ms);
  }

  #answered(): Promise<void> {
    return this.#held === 0 ? Promise.resolve() : new Promise((resolve) => (this.#idle ??= new Set()).add(resolve));
  }

  /** False if there is no such call. */
  cancel(id: Id, reason: Fault): boolean {
    const live = this.#live.get(id);
    if (live === undefined) return false;
    this.#live.delete(id);
    live.cancel.fire(reason);
    live.sink.release();
    return true;
  }

  /** The caller has read `messages` messages of a call. */
  grant(id: Id, messages: number): void {
    this.#live.get(id)?.sink.grant(messages);
  }

  /** Answers every open call with an error, and a subscription with its end. Resolves when all of that was sent. */
  async fail(reason: Fault): Promise<void> {
    this.#failing = reason;
    this.end(reason);
    await Promise.all([this.#answered(), ...(this.#running ?? [])]);
  }

  end(reason: Fault): void {
    if (this.#live.size === 0) return;
    for (const { id } of this.#live.values()) this.cancel(id, reason);
  }

  async #run(job: Job, over: Fault | undefined, respond: Respond, release: () => void): Promise<void> {
    const { id, era } = job;
    let response: OutgoingMessage;
    try {
      if (over !== undefined) throw over;
      response = { jsonrpc: "2.0", id, result: await this.#result(job) };
    } catch (error) {
      const fault = toFault(error);
      response = { jsonrpc: "2.0", id, error: toRpcError(fault, era), fault };
    }
    if (this.#live.get(id)?.cancel === job.cancel) this.#live.delete(id);
    release();
    const told = job.asks?.ended(id);
    if (told !== undefined) await told;
    if (job.cancel.fired) {
      job.held.free();
      // A caller that cancelled wants no answer.
      if (this.#failing === undefined || job.cancel.reason !== this.#failing) return respond(undefined);
      response = lastWord(job, this.#failing);
    }
    const responded = respond(response);
    // From here on the link holds the answer, and counts it until it is written.
    job.held.free();
    await responded;
    // The specification's pages differ on how a server ends a subscription on a shared link, so this sends both.
    if (isSubscription(job) && "result" in response) {
      const params = { requestId: id, reason: "the subscription ended" };
      await this.#answerOptions.send({ jsonrpc: "2.0", method: "notifications/cancelled", params }).catch(() => {});
    }
  }

  async #result(job: Job): Promise<JsonObject> {
    const { id, client, envelope, era } = job;
    const { method } = envelope.request;
    // A read holds a chunk as soon as it has begun.
    if (method === "resources/read") hold(job, job.held.bytes + PART_BYTES);
    const answered = await answer(this.#answerOptions, job);
    if (answered === undefined) throw new Fault("internal", "the call ended without a result");
    // A page is small, or as large as its server made it. Weighing it would take as long as writing it.
    if (!listMembers.has(method)) hold(job, weigh(answered), WHOLE_PART);
    // This edge names the versions that it speaks, whatever is behind it.
    const result = method === "server/discover" ? this.#discovered(answered, envelope.peer) : answered;
    if (job.neutral) return result;
    if (era === "legacy") return withoutModernMembers(method, result);
    const info = this.#info.get(method, result, client);
    const modern = withModernMembers(method, result, info instanceof Promise ? await info : info);
    if (!isSubscription(job)) return modern;
    return { ...modern, _meta: { ...(isObject(modern["_meta"]) ? modern["_meta"] : undefined), [meta.subscriptionId]: id } };
  }

  #discovered(result: JsonObject, peer: boolean): JsonObject {
    return { ...(peer ? withExtensions(result) : forForeignPeer(result)), supportedVersions: this.#versions };
  }
}

/** Counts what a call holds beyond its request, unless that is little. */
function hold({ held }: Job, bytes: number, part?: number): void {
  if (bytes <= SMALL_BYTES || bytes <= held.bytes) return;
  const fault = held.grow(bytes, part);
  if (fault !== undefined) throw fault;
}

/** The answer to what is still open when the server closes: a subscription ends normally, a call fails. */
function lastWord(job: Job, reason: Fault): OutgoingMessage {
  const { id, client } = job;
  if (isSubscription(job)) return { jsonrpc: "2.0", id, result: { resultType: "complete", _meta: { [meta.subscriptionId]: id } } };
  return { jsonrpc: "2.0", id, error: toRpcError(reason, client.era), fault: reason };
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

function isSubscription(job: Job): boolean {
  return job.era === "modern" && job.envelope.request.method === "subscriptions/listen";
}
