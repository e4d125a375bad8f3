import {
  type Era,
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

/** Milliseconds that nothing takes a question away from whoever answers it, also where its caller asks for more than its share. */
const QUESTION_SPARE_MS = 60_000;

/**
 * What is kept between two requests of a client. Everything in it expires. A listener has one, since a modern client may come back
 * on another connection; a link that belongs to no listener has its own.
 */
export class Parking {
  /** Lists between two pages. A caller may leave as many as it likes: its own oldest makes room. */
  readonly lists: Park<Rest>;
  /** Calls that wait for the answers to their asks. */
  readonly asked: Park<Work>;
  readonly seal: Seal = seal();
  /** Who serves; asked for once. */
  readonly info: ServerInfo;

  constructor(service: Service, limits: Limits) {
    this.info = new ServerInfo(service);
    this.lists = park({ limits, ms: limits.parkedMs, spareMs: 0, release: (rest) => void rest.replies.return() });
    this.asked = park({ limits, ms: limits.answerMs, spareMs: QUESTION_SPARE_MS, release: (work) => work.leave() });
  }

  /** Lets go of what a client will not come back for; gives the part that is not of this edge. */
  async release(
    { method, cursor, requestState }: JsonObject,
    whose: string,
    principal: string | undefined,
  ): Promise<JsonObject | undefined> {
    if (typeof method === "string" && typeof cursor === "string")
      return this.lists.drop(listPlace(whose, method, cursor)) ? undefined : { method, cursor };
    // What this edge did not seal it did not give, and only its maker may be told to let go of it.
    if (!isKeptState(requestState) || !this.seal.mine(requestState)) return undefined;
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

/** Where a list is parked: a cursor means nothing to another caller or list. */
export function listPlace(whose: string, method: string, cursor: string): string {
  return `${method} ${cursor} ${whose}`;
}

/** Whose a list is between two pages: a legacy session's own; that of a modern request its principal's, on whatever connection it comes. */
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
