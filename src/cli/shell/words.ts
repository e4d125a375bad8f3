/** Splits a line into words, quoted as in a shell; undefined if a quote is not closed. */
export function lineWords(line: string): string[] | undefined {
  const unquoted = line.replace(/'[^']*'|"(?:[^"\\]|\\.)*"|\\./gs, "");
  if (/['"\\]/.test(unquoted)) return undefined;
  const words = line.match(/(?:[^\s'"\\]|\\.|'[^']*'|"(?:[^"\\]|\\.)*")+/gs) ?? [];
  return words.map((word) =>
    word.replace(/'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)/gs, (_all, single?: string, double?: string, escaped?: string) =>
      double === undefined ? (single ?? escaped ?? "") : double.replace(/\\(["\\])/g, "$1"),
    ),
  );
}

/** A word as it has to be typed, with quotes if needed. */
export function typedWord(word: string): string {
  return /^[^\s'"\\]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
