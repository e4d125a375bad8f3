import { isKeptState, type JsonObject, type Limits, type Park, park, type Rest, type Service } from "../../core/index.js";
import { type Seal, seal } from "../seal.js";
import { ServerInfo } from "./server-info.js";
import type { Work } from "./work.js";

/**
 * What is kept between two requests of a client. Everything in it expires. One for each link, or one for a listener whose clients
 * come on a link for each request.
 */
export class Parking {
  /** Lists between two pages. */
  readonly lists: Park<Rest>;
  /** Calls that wait for the answers to their asks. */
  readonly asked: Park<Work>;
  readonly seal: Seal = seal();
  /** Who serves; asked for once. */
  readonly info: ServerInfo;

  constructor(service: Service, { parked: limit, parkedMs: ms }: Limits) {
    this.info = new ServerInfo(service);
    this.lists = park({ limit, ms, release: (rest) => void rest.replies.return() });
    this.asked = park({ limit, ms, release: (work) => work.leave() });
  }

  /** Lets go of what a client will not come back for; gives the part that is not of this edge. */
  async release({ method, cursor, requestState }: JsonObject, principal: string | undefined): Promise<JsonObject | undefined> {
    if (typeof method === "string" && typeof cursor === "string")
      return this.lists.drop(placeFor(principal, listPlace(method, cursor))) ? undefined : { method, cursor };
    if (!isKeptState(requestState)) return undefined;
    if (!this.seal.mine(requestState)) return { requestState };
    const key = await this.seal.open(requestState, undefined, principal).catch(() => undefined);
    if (key !== undefined) this.asked.drop(placeFor(principal, key));
    return undefined;
  }

  clear(): void {
    this.lists.clear();
    this.asked.clear();
  }
}

/** Where a list is parked: a cursor means nothing to another list. */
export function listPlace(method: string, cursor: string): string {
  return `${method} ${cursor}`;
}

/** Where something is parked for a caller: nobody else's request finds it. */
export function placeFor(principal: string | undefined, place: string): string {
  return principal === undefined ? place : `${place} ${principal}`;
}
