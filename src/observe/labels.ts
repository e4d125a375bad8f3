import { AMBIENT, legacyMethods, listMembers } from "../core/index.js";

/** The label of unknown names: a client chooses method names, and must not choose how many series there are. */
export const OTHER = "other";

const methods: ReadonlySet<string> = new Set([
  ...listMembers.keys(),
  ...legacyMethods,
  AMBIENT,
  "server/discover",
  "subscriptions/listen",
  "tools/call",
  "resources/read",
  "prompts/get",
  "completion/complete",
  "elicitation/create",
  "sampling/createMessage",
  "roots/list",
  "tasks/get",
  "tasks/list",
  "tasks/result",
  "tasks/update",
  "tasks/cancel",
]);

export function methodLabel(method: string): string {
  return methods.has(method) ? method : OTHER;
}

/** Keeps the first names, up to a limit; each further one becomes `other`. */
export class CappedNames {
  readonly #most: number;
  readonly #names = new Set<string>();

  constructor(most: number) {
    this.#most = most;
  }

  /** `proven`: the name is known to be valid, and may take a place. */
  label(name: string, proven: boolean): string {
    if (this.#names.has(name)) return name;
    if (!proven || this.#names.size >= this.#most || name.length > 128) return OTHER;
    this.#names.add(name);
    return name;
  }
}
