import type { Identity } from "./identity.js";

/** The callers that share a connection to a server. They decide who gets a message in which the server names no call. */
export interface PresentCallers {
  /** Callers with an open call in which a server may ask or log, or who gave up such a call a moment ago without an answer. */
  readonly asking: ReadonlySet<Identity>;
  /** All callers that have called and have not left. */
  readonly present: ReadonlySet<Identity>;
}

/** How callers share a connection: decides which caller gets a message in which the server names no call. */
export interface FanIn {
  /** Undefined where it cannot be decided: then the message is refused or dropped. */
  owner(callers: PresentCallers): Identity | undefined;
  /** The option that gives each client a connection of its own, for the error of a refused question; `fanIn` unless given. */
  readonly option?: { readonly name: string; readonly use: string } | undefined;
}

/**
 * One connection for all callers. A message that names no call goes to the caller that has a call open: this trusts the server to speak
 * within its calls.
 */
export const sharedByAll: FanIn = {
  owner: ({ asking, present }) => only(asking.size > 0 ? asking : present),
};

/** A connection for one caller, who gets everything that the server says on it. */
export function ownedBy(identity: Identity): FanIn {
  return { owner: () => identity };
}

function only(identities: ReadonlySet<Identity>): Identity | undefined {
  const [first] = identities;
  return identities.size === 1 ? first : undefined;
}
