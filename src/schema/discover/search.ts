import type { ShownTool } from "../tokens/text.js";

/** Keeps the best of the offered tools only. */
export interface Search {
  offer(tool: ShownTool): void;
  best(): readonly ShownTool[];
}

/** A word in a name counts three times as much as one in a description. A word that only begins alike counts half. */
export function search(query: string, most: number): Search {
  const wanted = [...new Set(words(query))].slice(0, 32);
  const found: { readonly tool: ShownTool; readonly score: number }[] = [];
  return {
    offer(tool) {
      const score = 3 * hits(wanted, words(tool.name)) + hits(wanted, words(tool.description ?? ""));
      if (score === 0 || (found.length === most && score <= (found.at(-1)?.score ?? 0))) return;
      const at = found.findIndex((other) => other.score < score);
      found.splice(at < 0 ? found.length : at, 0, { tool, score });
      if (found.length > most) found.pop();
    },
    best: () => found.map(({ tool }) => tool),
  };
}

function hits(wanted: readonly string[], words: readonly string[]): number {
  let sum = 0;
  for (const word of wanted)
    if (words.includes(word)) sum += 1;
    else if (word.length > 2 && words.some((other) => other.startsWith(word) || (other.length > 2 && word.startsWith(other)))) sum += 0.5;
  return sum;
}

function words(text: string): string[] {
  return (
    text
      .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  );
}
