import type { Address } from "../../../src/api/index.js";

export type Era = "legacy" | "modern";

/** Hears the text of every message that arrives. */
export type Take = (text: string) => void;

/** A client that knows nothing of Anywire: it writes the texts it is given and hands on those it hears. */
export interface RawClient {
  send(text: string): void;
  /** Stops reading, or reads on. */
  read?(on: boolean): void;
  close(): Promise<void>;
}

/** A server of the same kind. */
export interface RawServer {
  readonly address: Address;
  /** `call` is the id, as text, of the request of the client that the message answers or belongs to. */
  send(text: string, call?: string): void;
  close(): Promise<void>;
}

/** Both ends of one wire. */
export interface RawWire {
  client(address: string, era: Era, take: Take): Promise<RawClient>;
  /** `port`: the one that another had, or any. */
  server(era: Era, take: Take, port?: number): Promise<RawServer>;
}
