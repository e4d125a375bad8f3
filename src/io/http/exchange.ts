import type { Account } from "../../core/index.js";

/** One HTTP request and its answer, on any host: Node's servers of either version, or a Fetch handler. */
export interface Exchange {
  readonly method: string;
  /** The path without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Whether it came over TLS. */
  readonly secure?: boolean;
  /** The hosts that the request names, at most two: HTTP/2 has two places for it. None if a `Host` header came twice. */
  readonly hosts: readonly string[];
  /** Counts the bytes of its connection. */
  readonly account: Account;
  /** The principal, once the credentials were checked. What is read and written from then on counts for it. */
  principal?: string | undefined;
  /** The address that it came from, if known. Behind a trusted proxy the gate replaces it with the client's address. */
  remote?: string | undefined;
  /** A header by its name in lower case. Repeated headers are joined by a comma. */
  header(name: string): string | undefined;
  /** All headers, with names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** The body as text. Throws a Fault: `overload` beyond `maxBytes`, `parse` if it is not UTF-8, `deadline` if it takes too long. */
  body(maxBytes: number): Promise<string>;
  /** Sends the whole answer. */
  reply(status: number, headers: Readonly<Record<string, string>>, text?: string): void;
  /** Begins an answer that is written piece by piece. */
  stream(status: number, headers: Readonly<Record<string, string>>): Outlet;
  /** Calls `listener` once if the client disconnects before the answer is complete. The returned function stops listening. */
  onGone(listener: () => void): () => void;
}

/** The body of an answer that is being written. */
export interface Outlet {
  /** Writes the pieces in order. Resolves once there is room for more; at once if the client has gone. */
  write(...pieces: readonly (string | Uint8Array)[]): Promise<void>;
  end(): void;
  /** Bytes that were written but not taken by the client. */
  readonly backlog: number;
  /** Cuts the stream. Waiting writes continue, and what was not written is lost. */
  abort(): void;
}
