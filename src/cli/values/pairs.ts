import { misuse } from "../session/mistake.js";

/** Groups `key=value` words by key, in the order of their first use. */
export function pairsOf(words: readonly string[]): Map<string, string[]> {
  const pairs = new Map<string, string[]>();
  for (const word of words) {
    const equals = word.indexOf("=");
    const key = word.slice(0, equals);
    pairs.set(key, [...(pairs.get(key) ?? []), word.slice(equals + 1)]);
  }
  return pairs;
}

/** The pairs with string values. Throws if a key is given twice. */
export function stringPairs(words: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    [...pairsOf(words)].map(([key, values]) => {
      if (values.length > 1) throw misuse(`${key} is given twice`);
      return [key, values[0] ?? ""];
    }),
  );
}
