import type { Account } from "../../core/index.js";

/** One HTTP request and its answer, whoever hosts it: Node's servers of either version, or a Fetch handler. */
export interface Exchange {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Whether it came over TLS. */
  readonly secure?: boolean;
  /** The hosts that the request names, two at most: HTTP/2 has two places for it. None where a `Host` header came twice. */
  readonly hosts: readonly string[];
  /** Where the bytes of its connection are counted. */
  readonly account: Account;
  /** Whom its credentials stand for, once they were looked at: what is read and written from then on counts for it. */
  principal?: string | undefined;
  /** The address that it came from, where that is known. The gate puts the client of a trusted proxy in its place. */
  remote?: string | undefined;
  /** By its name in lower case; repeated ones joined by a comma. */
  header(name: string): string | undefined;
  /** All of them, names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** The body as text. Throws a Fault: `overload` beyond `maxBytes`, `parse` where it is no UTF-8, `deadline` where it takes too long. */
  body(maxBytes: number): Promise<string>;
  /** Answers at once. */
  reply(status: number, headers: Readonly<Record<string, string>>, text?: string): void;
  /** Answers piece by piece. */
  stream(status: number, headers: Readonly<Record<string, string>>): Outlet;
  /** Calls `listener` once if the client goes away before the answer is whole; the returned function stops listening. */
  onGone(listener: () => void): () => void;
}

/** The body of an answer that is being written. */
export interface Outlet {
  /** Writes pieces one after the other. Resolves once there is room for more; at once if the client has gone. */
  write(...pieces: readonly (string | Uint8Array)[]): Promise<void>;
  end(): void;
  /** Bytes that were written and that the client has not taken. */
  readonly backlog: number;
  /** Cuts the connection's stream: whoever waits to write goes on, what was not written is lost. */
  abort(): void;
}
