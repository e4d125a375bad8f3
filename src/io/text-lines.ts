/** Cuts bytes into lines of text for people to read. It accepts invalid UTF-8 and limits the length of a line. */
export interface TextLines {
  push(chunk: Uint8Array): void;
  /** Returns the last line, if it had no newline. */
  end(): void;
}

/** A line of more than `maxChars` is passed on in pieces, never cut between the halves of a surrogate pair. */
export function textLines(onLine: (line: string) => void, maxChars: number = 64 * 1024): TextLines {
  const decoder = new TextDecoder();
  let rest = "";

  const give = (line: string): void => onLine(line.endsWith("\r") ? line.slice(0, -1) : line);

  const take = (text: string): void => {
    rest += text;
    let from = 0;
    for (;;) {
      const newline = rest.indexOf("\n", from);
      const to = newline < 0 ? rest.length : newline;
      while (to - from > maxChars) {
        const high = rest.charCodeAt(from + maxChars - 1);
        const cut = from + maxChars - (high >= 0xd800 && high < 0xdc00 ? 1 : 0);
        onLine(rest.slice(from, cut));
        from = cut;
      }
      if (newline < 0) break;
      give(rest.slice(from, newline));
      from = newline + 1;
    }
    rest = rest.slice(from);
  };

  return {
    push: (chunk) => take(decoder.decode(chunk, { stream: true })),
    end: () => {
      take(decoder.decode());
      if (rest !== "") give(rest);
      rest = "";
    },
  };
}
