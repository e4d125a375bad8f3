import { type IncomingSingle, type LinkMessage, type OutgoingMessage, receivedMessage } from "../codec/index.js";
import { Fault, isObject, type JsonObject, rpcCodes, toFault, toRpcError, withNumbers } from "../core/index.js";
import type { Link } from "../era/index.js";
import { overtime } from "../stream/index.js";
import { plain } from "./plain.js";
import type { SdkMessage, SdkSendOptions, SdkTransport } from "./types.js";

export type Received = Exclude<IncomingSingle, { kind: "bad" }>;

/** What one end does with passing messages. */
export interface TransportHooks {
  /** Called with a message for the SDK. Returns undefined if the SDK should not get it. */
  receive?(message: Received): Received | undefined;
  /** Calls `pass` with the message for the link, as soon as it may be sent. */
  send?(message: OutgoingMessage, related: string | number | undefined, pass: (message: OutgoingMessage) => Promise<void>): Promise<void>;
  /** Called before the first message is read. */
  start?(): void;
  /** Called when nothing passes any more. close() waits for the returned promise. */
  end?(): void | Promise<void>;
}

/** Adapts a link to the SDK's Transport: one link, one session, either role. */
export function linkTransport(link: Link, hooks: TransportHooks = {}): SdkTransport {
  return new LinkTransport(link, hooks);
}

class LinkTransport implements SdkTransport {
  onclose: SdkTransport["onclose"];
  onerror: SdkTransport["onerror"];
  onmessage: SdkTransport["onmessage"];
  readonly #link: Link;
  readonly #hooks: TransportHooks;
  #state: "idle" | "open" | "closed" = "idle";
  #sent = 0;
  #ended: void | Promise<void> | undefined;

  constructor(link: Link, hooks: TransportHooks) {
    this.#link = link;
    this.#hooks = hooks;
  }

  async start(): Promise<void> {
    if (this.#state !== "idle") throw new Fault("invalid-request", "the transport was already started");
    this.#state = "open";
    this.#hooks.start?.();
    void this.#read();
  }

  async send(message: SdkMessage, options?: SdkSendOptions): Promise<void> {
    if (this.#state === "closed") throw new Fault("unavailable", "the transport is closed", { data: { reason: "closed" } });
    let ready: OutgoingMessage;
    try {
      ready = plain(message) as OutgoingMessage;
    } catch (error) {
      const refusal = unsendable(message, error);
      if (refusal === undefined) throw new Fault("internal", "the message is not JSON", { cause: error });
      // The SDK reports a response that cannot be sent and forgets it: its caller would wait for ever.
      this.onerror?.(toFault(error));
      ready = refusal;
    }
    await (this.#hooks.send === undefined ? this.#link.send(ready) : this.#hooks.send(ready, options?.relatedRequestId, this.#pass));
    // A handler may send without end and never wait for anything else. A link in this process need not make it wait, so this does.
    const rest = overtime(++this.#sent);
    if (rest !== undefined) await rest;
  }

  async close(): Promise<void> {
    this.#end();
    await this.#link.close();
    await this.#ended;
  }

  readonly #pass = (message: OutgoingMessage): Promise<void> => this.#link.send(message);

  #end(): void {
    if (this.#state === "closed") return;
    this.#state = "closed";
    // The SDK ends its calls in onclose, and must not wait for the other end.
    this.#ended = this.#hooks.end?.();
    this.onclose?.();
  }

  async #read(): Promise<void> {
    let notified = false;
    try {
      for await (const batch of this.#link.incoming) {
        for (const message of batch.flatMap((each) => singles(each))) {
          if (message.kind === "bad") {
            this.onerror?.(message.fault);
            continue;
          }
          // The SDK handles a response at once, but a notification only in a later microtask. By then it has forgotten the call that the
          // progress belongs to. A turn of the event loop between them keeps their order.
          if (notified && (message.kind === "result" || message.kind === "error")) {
            await new Promise<void>((resolve) => setImmediate(resolve));
            notified = false;
          }
          if (this.#state === "closed") return;
          notified ||= message.kind === "notification";
          this.#deliver(message);
        }
      }
    } catch (error) {
      this.onerror?.(toFault(error));
    }
    this.#end();
    await this.#link.close();
  }

  #deliver(received: Received): void {
    try {
      const message = this.#hooks.receive === undefined ? received : this.#hooks.receive(received);
      const readable = message === undefined ? undefined : this.#readable(message);
      if (readable !== undefined) this.onmessage?.(readable);
    } catch (error) {
      this.onerror?.(toFault(error));
    }
  }

  /** The message for the SDK. Its handlers need plain numbers: otherwise a request is refused here, and an answer becomes an error. */
  #readable(message: Received): (SdkMessage & JsonObject) | undefined {
    try {
      return withNumbers(rpcOf(message), "");
    } catch (error) {
      if (message.kind === "notification" || message.id === undefined) throw error;
      const refusal = { jsonrpc: "2.0" as const, id: message.id, error: toRpcError(toFault(error), "legacy") };
      if (message.kind !== "request") return refusal;
      this.#link.send(refusal).catch(() => {});
      return undefined;
    }
  }
}

function rpcOf(message: Received): SdkMessage & JsonObject {
  const rpc = receivedMessage(message);
  // Its interfaces have no index signature, and copying every message would be slow.
  if (message.kind !== "error" || message.id !== undefined) return rpc as object as SdkMessage & JsonObject;
  const { id, ...rest } = { id: null, ...rpc };
  return rest;
}

/** The error to send instead of a response that is not JSON. */
function unsendable(message: SdkMessage, cause: unknown): OutgoingMessage | undefined {
  if (!isObject(message) || !("result" in message || "error" in message)) return undefined;
  const { id } = message;
  if (typeof id !== "string" && typeof id !== "number") return undefined;
  return { jsonrpc: "2.0", id, error: { code: rpcCodes.internal, message: `the result is not JSON: ${toFault(cause).message}` } };
}

/** The messages of a batch. The SDK does not know answers in parts. */
function singles(message: LinkMessage): readonly IncomingSingle[] {
  if (message.kind === "part") return [];
  return message.kind === "batch" ? message.messages : [message];
}
