import { describe, it } from "vitest";
import type { DialOptions, Era } from "../../src/api/index.js";
import { contract, type Subject } from "../../src/contract/index.js";

/** What the client is told, and what the server speaks. */
export interface Pair {
  readonly name: string;
  readonly era: NonNullable<DialOptions["era"]>;
  readonly eras: readonly Era[];
}

export const pairs: readonly Pair[] = [
  { name: "legacy client, server of both eras", era: "legacy", eras: ["legacy", "modern"] },
  { name: "modern client, server of both eras", era: "modern", eras: ["legacy", "modern"] },
  { name: "client of both eras, legacy server", era: "auto", eras: ["legacy"] },
  { name: "client of both eras, modern server", era: "auto", eras: ["modern"] },
];

/** Registers the contract for a wire and a pair of eras. */
export function keepsContract(name: string, subject: Subject): void {
  describe(name, () => {
    for (const check of contract) it(check.name, () => check.run(subject));
  });
}
