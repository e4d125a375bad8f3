import { type Cancel, Canceller } from "./cancel.js";
import { Fault } from "./fault.js";

/** Who calls: one object for as long as the caller can be told apart from others. Nothing of one caller reaches another. */
export interface Identity {
  /** A number that no other caller of this process has. */
  readonly serial: number;
  /** Names the caller to further Anywire ends. Nobody can guess it. */
  readonly key: string;
  /** The principal that its credentials stand for. */
  readonly principal?: string | undefined;
  /** The address that it calls from, where the wire knows one. */
  readonly remote?: string | undefined;
  /**
   * How far it reaches. `lasting`: over many calls, as a session, a stream or a principal does. `call`: one call with its retries.
   * `self`: this program, which calls in its own name.
   */
  readonly span: "lasting" | "call" | "self";
  /**
   * The legacy session in which it calls, where a relay shares one session among its callers. The relay decides which of them gets a
   * message that names no call.
   */
  readonly session?: Identity | undefined;
  /** For a wire that cannot see its client leave, as in a legacy HTTP session: tells whether the client still shows signs of life. */
  readonly idle?: IdleCaller | undefined;
  /** Fires when the caller has left. What belongs to it ends then: subscriptions, log levels, the lists that a legacy session left. */
  readonly ended: Cancel;
}

/** A caller that may have left without saying so. */
export interface IdleCaller {
  /** The time, in epoch milliseconds, since which it has had no stream, call or question open; undefined while it has one. */
  readonly since: number | undefined;
  /** Ends the caller. A client that is still there has to begin another session. */
  end(reason: Fault): void;
}

/** Calls `lost` once when the credentials behind a stream are no longer valid. The returned function stops the check. */
export type CredentialWatch = (lost: (fault: Fault) => void) => () => void;

export interface IdentityOptions {
  readonly principal?: string | undefined;
  readonly remote?: string | undefined;
  readonly span?: Identity["span"];
  readonly session?: Identity | undefined;
  readonly idle?: IdleCaller | undefined;
}

let callers = 0;

/** An identity together with its end. Whoever makes it ends it. */
export class Caller implements Identity {
  readonly serial: number = ++callers;
  readonly principal: string | undefined;
  readonly remote: string | undefined;
  readonly span: Identity["span"];
  readonly session: Identity | undefined;
  readonly idle: IdleCaller | undefined;
  readonly ended: Canceller = new Canceller();
  #key: string | undefined;

  constructor({ principal, remote, span = "lasting", session, idle }: IdentityOptions = {}) {
    this.principal = principal;
    this.remote = remote;
    this.span = span;
    this.session = session;
    this.idle = idle;
  }

  /** Made on first use: a caller of a single call is rarely named. */
  get key(): string {
    this.#key ??= crypto.randomUUID();
    return this.#key;
  }

  end(reason: Fault = gone): void {
    this.ended.fire(reason);
  }
}

/** Made once, because creating an error is slow. */
const gone = new Fault("unavailable", "the caller has gone", { data: { reason: "closed" } });

/**
 * The owner whose quotas a caller uses up: its principal; without one the address that it calls from, because a caller that opens another
 * connection is still the same; without either (a Unix socket, a pipe, a mounted handler) `otherwise`.
 */
export function quotaOwner({ principal, remote }: Pick<Identity, "principal" | "remote">, otherwise = ""): string {
  if (principal !== undefined) return `principal ${principal}`;
  return remote === undefined ? `caller ${otherwise}` : `address ${hostOf(remote)}`;
}

/** For IPv6, the 64-bit network: a single host may use every address in it. */
function hostOf(address: string): string {
  if (!address.includes(":")) return address;
  if (address.includes(".")) return address.slice(address.lastIndexOf(":") + 1);
  const [head = "", tail] = address.replace(/%.*/, "").split("::");
  const front = head === "" ? [] : head.split(":");
  const zeros = tail === undefined ? 0 : 8 - front.length - (tail === "" ? 0 : tail.split(":").length);
  return [...front, ...Array<string>(Math.max(0, zeros)).fill("0"), ...(tail ?? "").split(":")].slice(0, 4).join(":");
}
