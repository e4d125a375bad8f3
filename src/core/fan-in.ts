import type { Identity } from "./identity.js";

/** Who uses a connection to a server, as far as it matters to what the server says without naming a call. */
export interface PresentCallers {
  /** Those with a call open in which a server may ask or log, or that gave one up a moment ago without an answer. */
  readonly asking: ReadonlySet<Identity>;
  /** All that have called and are not gone. */
  readonly present: ReadonlySet<Identity>;
}

/** How a connection is shared: decides whose it is what a server says without naming a call. */
export interface FanIn {
  /** Undefined where nobody can tell: then it is refused or dropped. */
  owner(callers: PresentCallers): Identity | undefined;
  /** The option that gives each client a connection of its own, for the error of a question that is refused; `fanIn` unless given. */
  readonly option?: { readonly name: string; readonly use: string } | undefined;
}

/** One connection for all callers. What names no call is told apart by who has a call open; that trusts a server to speak in its calls. */
export const sharedByAll: FanIn = {
  owner: ({ asking, present }) => only(asking.size > 0 ? asking : present),
};

/** A connection for one caller: all that is said on it is for that one. */
export function ownedBy(identity: Identity): FanIn {
  return { owner: () => identity };
}

function only(identities: ReadonlySet<Identity>): Identity | undefined {
  const [first] = identities;
  return identities.size === 1 ? first : undefined;
}
