import { type Identity, type JsonObject, type LogLevel, levelAt, logLevels } from "../../core/index.js";

/**
 * The log level of a legacy session. It is one for all its users: the most verbose that any of them wants. Entries are filtered for each.
 */
export interface Levels {
  /** Notes that a call, or a listening client, wants a level. The returned function takes that back. */
  want(level: string | undefined, identity: Identity): () => void;
  /** Sets the level of a legacy client's session. Returns the params for the server, which may need a more verbose level. */
  set(params: JsonObject, identity: Identity): JsonObject;
}

/** `tell` sends the server a level. */
export function sessionLevels(tell: (level: LogLevel) => void): Levels {
  const sessions = new Map<Identity, number>();
  const wanted: number[] = logLevels.map(() => 0);
  /** The level that the server was last sent; none yet. */
  let current: number = logLevels.length;

  const needed = (): number => {
    const first = wanted.findIndex((count) => count > 0);
    return Math.min(first < 0 ? logLevels.length : first, ...sessions.values());
  };
  const count = (at: number, by: 1 | -1): void => {
    wanted[at] = (wanted[at] ?? 0) + by;
  };
  const change = (level: number): void => {
    const name = logLevels[level];
    if (name === undefined) return;
    current = level;
    tell(name);
  };
  const raise = (): void => {
    const level = needed();
    if (level < current) change(level);
  };
  /** Makes the level quieter again. Only a session that set a level expects that. Calls come and go, and would change it all the time. */
  const lower = (): void => {
    const level = needed();
    if (level !== current) change(level);
  };

  return {
    want(level, identity) {
      const at = levelAt(level);
      // A caller that set a level for its session has already said what it wants.
      if (at < 0 || sessions.has(identity)) return () => {};
      count(at, 1);
      raise();
      let held = true;
      return () => {
        if (held) count(at, -1);
        held = false;
      };
    },
    set(params, identity) {
      const at = levelAt(params["level"]);
      if (at < 0) return params;
      if (!sessions.has(identity))
        identity.ended.on(() => {
          sessions.delete(identity);
          lower();
        });
      sessions.set(identity, at);
      current = needed();
      return current === at ? params : { ...params, level: logLevels[current] };
    },
  };
}
