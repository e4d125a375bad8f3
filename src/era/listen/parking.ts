import {
  type Era,
  fixedTimeouts,
  type Held,
  type Identity,
  isKeptState,
  type JsonObject,
  type Limits,
  type Park,
  park,
  type Rest,
  type Service,
} from "../../core/index.js";
import { type Seal, seal } from "../seal.js";
import { ServerInfo } from "./server-info.js";
import type { Work } from "./work.js";

/**
 * What is kept between two requests of a client. Everything in it expires. A listener has one for all its links, because a modern client
 * may come back on another connection. A link without a listener has its own.
 */
export class Parking {
  /** Lists between two pages. When a caller has too many, its own oldest makes room. */
  readonly lists: Park<ParkedList>;
  /** Calls that wait for the answers to their asks. */
  readonly asked: Park<Work>;
  readonly seal: Seal;
  /** The server's info, asked for once. */
  readonly info: ServerInfo;

  constructor(service: Service, limits: Limits, sealKey?: string | Uint8Array) {
    this.seal = seal(sealKey);
    this.info = new ServerInfo(service);
    this.lists = park({ limits, ms: limits.parkedMs, spareMs: 0, release: leaveList });
    // For a while nothing takes a question away from the person who answers it, even if its caller asks for more than its share.
    this.asked = park({ limits, ms: limits.answerMs, spareMs: fixedTimeouts.spareMs, release: (work) => work.leave() });
  }

  /** Releases what a client will not come back for. Returns what another edge has to release. */
  async release(
    { method, cursor, requestState }: JsonObject,
    whose: string,
    principal: string | undefined,
  ): Promise<JsonObject | undefined> {
    if (typeof method === "string" && typeof cursor === "string")
      return this.lists.drop(listPlace(whose, method, cursor)) ? undefined : { method, cursor };
    // This edge did not make a state that it did not seal, and only the maker may be told to release it.
    if (!isKeptState(requestState) || !(await this.seal.mine(requestState))) return undefined;
    const sealed = await this.seal.open(requestState, undefined, principal).catch(() => undefined);
    if (sealed === undefined) return undefined;
    if ("call" in sealed) this.asked.drop(sealed.call);
    return "state" in sealed && isKeptState(sealed.state) ? { requestState: sealed.state } : undefined;
  }

  clear(): void {
    this.lists.clear();
    this.asked.clear();
  }
}

/** A list between two pages, and what its call counts meanwhile. */
export interface ParkedList {
  readonly rest: Rest;
  held: Held | undefined;
}

function leaveList({ rest, held }: ParkedList): void {
  held?.free();
  void rest.replies.return();
}

/** The key of a parked list. A cursor is valid only for the same caller and method. */
export function listPlace(whose: string, method: string, cursor: string): string {
  return `${method} ${cursor} ${whose}`;
}

/** The owner of a list between two pages: a legacy session, or for a modern request its principal, on any connection. */
export function listOwner(era: Era, identity: Identity): string {
  const session = sessionOf(era, identity);
  if (session !== undefined) return `session ${session.key}`;
  return identity.principal === undefined ? "" : `principal ${identity.principal}`;
}

/** The legacy session that a request belongs to, if it has one. */
export function sessionOf(era: Era, identity: Identity): Identity | undefined {
  const session = identity.session ?? identity;
  return era === "legacy" && session.span === "lasting" ? session : undefined;
}
