import type { Context, Fault, Replies, Reply } from "../../core/index.js";
import { randomToken } from "../seal.js";
import { type AmbientCall, ambientCall } from "./ambient.js";

/**
 * Who calls on a link, and who of them listens for what names no call. That is delivered only while one client alone has called: it
 * may be about any of them.
 */
export class Audience {
  /** The key of what the edge itself calls, which is nobody's. */
  readonly ownKey: string = randomToken();
  /** Two are as good as many. */
  readonly #keys = new Set<string>();
  readonly #listeners = new Set<AmbientCall>();

  /** Someone calls. */
  add({ client }: Context): void {
    if (this.#keys.size < 2 && client.key !== this.ownKey) this.#keys.add(client.key);
  }

  /** Whether the edge itself makes a call: nobody reads what comes for it but its result. */
  isOwn({ context }: { readonly context: Context }): boolean {
    return context.client.key === this.ownKey;
  }

  /** Whether one client alone has called. */
  get exclusive(): boolean {
    return this.#keys.size <= 1;
  }

  /** Whether anyone listens. */
  get listens(): boolean {
    return this.#listeners.size > 0;
  }

  /** Opens a call that brings what belongs to no call; `bytes` of it may wait for the reader. Not for one that is cancelled already. */
  listen(context: Context, bytes: number): Replies {
    this.add(context);
    const call: AmbientCall = ambientCall(context, bytes, () => this.#listeners.delete(call));
    this.#listeners.add(call);
    return call;
  }

  /** Gives a reply of no call to the one client's listener; false if there is none. */
  push(reply: Reply): boolean {
    const first = this.exclusive ? this.#listeners.values().next().value : undefined;
    first?.push(reply);
    return first !== undefined;
  }

  /** Nothing more will come. */
  fail(reason: Fault): void {
    for (const call of [...this.#listeners]) call.fail(reason);
    this.#listeners.clear();
  }
}
