import { type Cancel, Canceller } from "./cancel.js";
import { Fault } from "./fault.js";

/** Who calls: one object for as long as the caller can be told apart from others. Nothing crosses from one to another. */
export interface Identity {
  /** Counts the callers of this process. */
  readonly serial: number;
  /** Names the caller to further Anywire ends. Nobody can guess it. */
  readonly key: string;
  /** Whom its credentials stand for. */
  readonly principal?: string | undefined;
  /** The address that it calls from, where the wire knows one. */
  readonly remote?: string | undefined;
  /**
   * How far it reaches. `lasting`: over many calls, as a session, a stream or a principal does. `call`: one call with its retries.
   * `self`: this program, which calls in its own name.
   */
  readonly span: "lasting" | "call" | "self";
  /** The legacy session that it calls in, where a relay shares one among its callers: the relay knows whose it is what names no call. */
  readonly session?: Identity | undefined;
  /** Where a wire cannot see its client leave, as in a legacy HTTP session: whether anything shows that it is there. */
  readonly idle?: IdleCaller | undefined;
  /** Fires when the caller is gone, and with it what belongs to it: subscriptions, log levels, the lists that a legacy session left. */
  readonly ended: Cancel;
}

/** A caller that may have left without a word. */
export interface IdleCaller {
  /** Since when, in epoch milliseconds, it has had no stream open, no call in flight and no question to answer; undefined while it has. */
  readonly since: number | undefined;
  /** Ends it. If it is there after all, its client has to begin another session. */
  end(reason: Fault): void;
}

/** Calls `lost` once when the credentials behind a stream are no longer valid; the returned function stops looking. */
export type CredentialWatch = (lost: (fault: Fault) => void) => () => void;

export interface IdentityOptions {
  readonly principal?: string | undefined;
  readonly remote?: string | undefined;
  readonly span?: Identity["span"];
  readonly session?: Identity | undefined;
  readonly idle?: IdleCaller | undefined;
}

let callers = 0;

/** An identity with its end. Its maker ends it. */
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

  /** Made on first use: most callers of one call are never named. */
  get key(): string {
    this.#key ??= crypto.randomUUID();
    return this.#key;
  }

  end(reason: Fault = gone): void {
    this.ended.fire(reason);
  }
}

/** Made once, since an error takes its time to make. */
const gone = new Fault("unavailable", "the caller has gone", { data: { reason: "closed" } });

/**
 * Whom the quotas count what a caller uses up for: its principal; without one the address that it calls from, since a caller that
 * opens another connection is still the same; without either (a Unix socket, a pipe, a mounted handler) `otherwise`.
 */
export function quotaOwner({ principal, remote }: Pick<Identity, "principal" | "remote">, otherwise = ""): string {
  if (principal !== undefined) return `principal ${principal}`;
  return remote === undefined ? `caller ${otherwise}` : `address ${hostOf(remote)}`;
}

/** One host has all addresses of an IPv6 network of 64 bits. */
function hostOf(address: string): string {
  if (!address.includes(":")) return address;
  if (address.includes(".")) return address.slice(address.lastIndexOf(":") + 1);
  const [head = "", tail] = address.replace(/%.*/, "").split("::");
  const front = head === "" ? [] : head.split(":");
  const zeros = tail === undefined ? 0 : 8 - front.length - (tail === "" ? 0 : tail.split(":").length);
  return [...front, ...Array<string>(Math.max(0, zeros)).fill("0"), ...(tail ?? "").split(":")].slice(0, 4).join(":");
}
