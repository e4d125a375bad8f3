import { type Id, type Incoming, namedCall } from "../../codec/index.js";
import { type Era, eraOfRequest, Fault, statedVersion, toFault } from "../../core/index.js";
import type { CallEnvelope } from "../envelope.js";
import { forForeignPeer, withExtensions } from "../extensions.js";
import type { AnswerOptions } from "./answer-options.js";
import type { CallStart, Calls, Respond } from "./calls.js";
import { assumedSession, type LegacySession, legacySession } from "./legacy-session.js";
import type { LinkClient } from "./link-client.js";
import { OPENING_MESSAGES, SessionOpening } from "./opening.js";
import { onlyModern, refuse, unopened } from "./refusals.js";

/** What a link provides to serve its legacy clients. */
export interface LegacyHost extends AnswerOptions, LinkClient {
  readonly eras: readonly Era[];
  readonly calls: Calls;
  readonly onFault: (fault: Fault) => void;
  /** Takes a message of the client. `waited`: the opening that the message has already waited for. */
  take(message: Incoming, waited?: SessionOpening): Promise<void> | undefined;
}

/** Any request of the legacy era. */
export type LegacyRequest = Pick<CallStart, "id" | "envelope" | "respond" | "metadata" | "bytes">;

/** The legacy era of a link: its one session, how it is opened, and the requests that need it. */
export class LegacyListen {
  readonly #host: LegacyHost;
  #session: LegacySession | undefined;
  /** Whether the session was assumed and not negotiated, so that a client may still initialize one. */
  #assumed: boolean;
  #opening: SessionOpening | undefined;

  /** `assume`: requests of this protocol version need no `initialize`. */
  constructor(host: LegacyHost, assume: string | undefined) {
    this.#host = host;
    this.#assumed = assume !== undefined;
    if (assume === undefined) return;
    const { metadata, onFault } = host;
    this.#session = assumedSession(host, assume, { identity: host.caller(undefined).identity, metadata, onFault, kept: host.hold() });
  }

  get session(): LegacySession | undefined {
    return this.#session;
  }

  request({ id, envelope, respond, metadata, bytes }: LegacyRequest): Promise<void> | undefined {
    const { eras, calls } = this.#host;
    const { method, params } = envelope.request;
    const session = this.#session;
    if (!eras.includes("legacy")) return refuse(id, onlyModern(method, params), "modern", respond);
    if (method === "ping") return respond({ jsonrpc: "2.0", id, result: {} });
    if (method === "initialize") return this.#initialize(id, envelope, respond);
    if (session === undefined) return refuse(id, unopened(method, eras), "legacy", respond);
    if (!session.ready) {
      const fault = new Fault("invalid-request", "the session is not initialised: send notifications/initialized first");
      return refuse(id, fault, "legacy", respond);
    }
    const answering = session.request(envelope.request, envelope.trace);
    if (answering === undefined) {
      const { identity, release } = this.#host.caller(envelope.caller, session.client.identity);
      const client = envelope.caller === undefined ? session.client : { ...session.client, identity };
      const { level: logLevel, asks, neutral } = session;
      calls.start({ id, envelope, client, era: "legacy", logLevel, asks, neutral, respond, release, bytes, metadata });
    } else
      calls.hold(
        answering.then(
          (result) => respond({ jsonrpc: "2.0", id, result }),
          (error) => refuse(id, toFault(error), "legacy", respond),
        ),
      );
    return undefined;
  }

  /** Whether a message has to wait for the session that is being opened, unless it has already waited for that one. */
  waits(message: Incoming, waited: SessionOpening | undefined): boolean {
    if (this.#opening === undefined || this.#opening === waited) return false;
    const { eras, calls } = this.#host;
    switch (message.kind) {
      case "request":
        return message.method !== "ping" && eraOfRequest(statedVersion(message.params), eras) === "legacy";
      case "notification": {
        const call = namedCall(message.params);
        return call === undefined || !calls.has(call);
      }
      default:
        return message.kind === "batch";
    }
  }

  /** Holds a message that waits. It is taken once the session is open or has failed. */
  later(message: Incoming, respond: Respond): Promise<void> | undefined {
    if (this.#opening?.put(message) === true) return undefined;
    const fault = new Fault("overload", "too much was sent before the session was open", {
      data: { limit: "opening", max: OPENING_MESSAGES },
    });
    if (message.kind === "request") return refuse(message.id, fault, "legacy", respond);
    this.#host.onFault(fault);
    return undefined;
  }

  /** Ends the session, and one that is being opened. */
  end(reason: Fault): void {
    this.#opening?.end(reason);
    this.#session?.close(reason);
  }

  #initialize(id: Id, envelope: CallEnvelope, respond: Respond): Promise<void> | undefined {
    if (this.#session !== undefined && !this.#assumed)
      return refuse(id, new Fault("invalid-request", "the session is already initialised"), "legacy", respond);
    this.#opening = new SessionOpening(this.#host.limits.callBytes, this.#host.hold());
    this.#host.calls.hold(this.#open(this.#opening, id, envelope, respond));
    return undefined;
  }

  async #open(opening: SessionOpening, id: Id, envelope: CallEnvelope, respond: Respond): Promise<void> {
    const { metadata, onFault } = this.#host;
    try {
      const { identity } = this.#host.caller(undefined);
      const kept = this.#host.hold();
      const options = { identity, metadata, onFault, kept, cancel: opening.cancel };
      const { session, result } = await legacySession(this.#host, envelope.request, options);
      this.#session?.close(new Fault("unavailable", "the session started again"));
      this.#session = session;
      this.#assumed = false;
      await respond({ jsonrpc: "2.0", id, result: envelope.peer ? withExtensions(result) : forForeignPeer(result) });
    } catch (error) {
      await refuse(id, toFault(error), "legacy", respond);
    }
    // Held messages come before anything that arrives now. One of them may open a session again.
    for (let message = opening.next(); message !== undefined; message = opening.next()) await this.#host.take(message, opening);
    opening.done();
    if (this.#opening === opening) this.#opening = undefined;
  }
}
