import type { Client, Context } from "../../core/index.js";

/** Who is at the other end of a link, as far as its wire knows. */
export interface Party {
  /** Names it. */
  readonly key: string;
  /** Whom its credentials stand for. */
  readonly principal: string | undefined;
  readonly metadata: Context["metadata"];
}

/** A client that has said who it is, as the one its credentials stand for. */
export function withPrincipal(client: Client, { principal }: Party): Client {
  return principal === undefined ? client : { ...client, principal };
}
