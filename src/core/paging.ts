import { overtime } from "../stream/index.js";
import { weightOf } from "./cached-json.js";
import { Fault, toFault } from "./fault.js";
import { isObject, type JsonObject } from "./json.js";
import { fixedLimits } from "./limits.js";
import { DONE } from "./replies.js";
import type { ItemReply, Replies, Reply, ReplyStep, ResultReply } from "./service.js";

/** Asks a cursor server for one page; the result holds the items under `member` and perhaps a `nextCursor`. */
export type FetchPage = (cursor: string | undefined) => Replies;

export interface PagesOptions {
  /** Where to begin. */
  readonly cursor?: string | undefined;
  /** Called with the cursor that nobody will ask for, because the reader left before that page. */
  readonly release?: (cursor: string) => void;
}

const MOST_EMPTY = fixedLimits.emptyPages;

/** A cursor server's pages as items. The next page is asked for when the reader has come to it, not before. */
export function itemsOfPages(fetch: FetchPage, member: string, options: PagesOptions = {}): Replies {
  return new PagedReplies(fetch, member, options);
}

class PagedReplies implements Replies {
  readonly #fetch: FetchPage;
  readonly #member: string;
  readonly #release: ((cursor: string) => void) | undefined;
  #page: Replies | undefined;
  #items: readonly unknown[] = [];
  /** The weight of each item, if the page came with its total weight. */
  #weight: number | undefined;
  #at = 0;
  /** The reply that follows the current items. */
  #after: Reply | undefined;
  #cursor: string | undefined;
  /** Pages without items since the last item. */
  #empty = 0;
  #ended = false;

  constructor(fetch: FetchPage, member: string, { cursor, release }: PagesOptions) {
    this.#fetch = fetch;
    this.#member = member;
    this.#cursor = cursor;
    this.#release = release;
  }

  [Symbol.asyncIterator](): Replies {
    return this;
  }

  next(): Promise<ReplyStep> {
    if (this.#at < this.#items.length) {
      const value = this.#items[this.#at++] as JsonObject;
      const weight = this.#weight;
      const item: ItemReply = weight === undefined ? { kind: "item", value, paged: true } : { kind: "item", value, paged: true, weight };
      return Promise.resolve({ done: false, value: item });
    }
    if (this.#after !== undefined) {
      const value = this.#after;
      this.#after = undefined;
      if (value.kind === "result") this.#ended = true;
      return Promise.resolve({ done: false, value });
    }
    return this.#ended ? Promise.resolve(DONE) : this.#pull();
  }

  return(): Promise<ReplyStep> {
    this.#ended = true;
    // If the reader has seen the cursor, it may come back with it, so only an unseen cursor is released.
    if (this.#after?.kind === "page") this.#release?.(this.#after.cursor);
    this.#items = [];
    this.#after = undefined;
    return this.#page?.return() ?? Promise.resolve(DONE);
  }

  async #pull(): Promise<ReplyStep> {
    this.#page ??= this.#fetch(this.#cursor);
    try {
      const step = await this.#page.next();
      if (this.#ended || step.done === true) {
        this.#ended = true;
        return DONE;
      }
      if (step.value.kind !== "result") return step;
      this.#page = undefined;
      this.#open(step.value);
    } catch (error) {
      this.#ended = true;
      throw toFault(error);
    }
    return this.next();
  }

  #open({ value, weight }: ResultReply): void {
    const { [this.#member]: items, ...others } = value;
    if (!Array.isArray(items) || !items.every(isObject))
      throw new Fault("invalid-request", `the server's list result has no array of objects "${this.#member}"`);
    this.#items = items;
    this.#weight = weight === undefined ? undefined : weight / items.length;
    this.#at = 0;
    const { nextCursor, ...rest } = others;
    if (typeof nextCursor !== "string") {
      // What is no cursor is a member like any other.
      this.#after = { kind: "result", value: others };
      return;
    }
    if (nextCursor === this.#cursor)
      throw new Fault("invalid-request", "the server's list never ends: a page names its own cursor as the next");
    this.#empty = items.length > 0 ? 0 : this.#empty + 1;
    if (this.#empty > MOST_EMPTY)
      throw new Fault("overload", `the server's list continues without items: ${this.#empty} empty pages`, {
        data: { limit: "emptyPages", max: MOST_EMPTY },
      });
    this.#cursor = nextCursor;
    this.#after = { kind: "page", cursor: nextCursor, rest, own: true };
  }
}

/** A list between two pages: its replies, and the one that was read ahead to see whether there is more. */
export interface Rest {
  readonly replies: Replies;
  readonly ahead?: Reply;
}

export interface Cut {
  readonly items: readonly JsonObject[];
  /** The page's other members. */
  readonly rest: JsonObject;
  /** An upstream cursor, where the page ended on an upstream boundary. */
  readonly cursor?: string;
  /** The rest of the list, to be parked until the next page is asked for. */
  readonly more?: Rest;
}

export interface PageSize {
  readonly items: number;
  readonly bytes: number;
}

/** The limits of a page. `pageSize` changes the number of items. The bytes are below what common peers accept as one message. */
export const defaultPageSize: PageSize = { items: 1024, bytes: 2 * 1024 * 1024 };

/**
 * Cuts one page off a list: always at an upstream boundary, otherwise when the page is full. It looks one reply ahead, so that there is no
 * empty last page. Replies that are not items go to `each`.
 */
export async function cutPage(from: Rest, size: PageSize, each: (reply: Reply) => Promise<void> | undefined): Promise<Cut | undefined> {
  const items: JsonObject[] = [];
  let bytes = 0;
  let ahead = from.ahead;
  for (let round = 1; ; round++) {
    const rest = overtime(round);
    if (rest !== undefined) await rest;
    let reply = ahead;
    ahead = undefined;
    if (reply === undefined) {
      const step = await from.replies.next();
      if (step.done === true) return undefined;
      reply = step.value;
    }
    switch (reply.kind) {
      case "item":
        if (reply.paged !== true && items.length > 0 && (items.length >= size.items || bytes >= size.bytes))
          return { items, rest: {}, more: { replies: from.replies, ahead: reply } };
        items.push(reply.value);
        // An upstream page is not cut, so its weight does not matter.
        if (reply.paged !== true) bytes += reply.weight ?? weightOf(reply.value);
        break;
      case "page":
        if (!reply.own) break;
        // The upstream cursor can be asked for again, so nothing needs to be kept.
        void from.replies.return();
        return { items, rest: reply.rest, cursor: reply.cursor };
      case "result":
        return { items, rest: reply.value };
      default: {
        const waiting = each(reply);
        if (waiting !== undefined) await waiting;
      }
    }
  }
}
