import type { DialOptions } from "../core/index.js";

export interface FetchOptions {
  /** Sent with every request. A page's WebSocket cannot send any. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Makes the requests in place of the page's own `fetch`: to sign in, to send cookies. */
  readonly fetch?: typeof fetch | undefined;
}

export type FetchDialOptions = DialOptions & FetchOptions;

/** The page's own fetch, which must not be called as a method of something else. */
export const ownFetch: typeof fetch = (...request) => fetch(...request);
