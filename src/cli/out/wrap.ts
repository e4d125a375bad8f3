/** Breaks text into lines of at most `width` characters, at spaces where there are any; its own line breaks stay. */
export function wrapLines(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const paragraph of text.split("\n")) {
    let line = "";
    for (const word of paragraph.split(/ +/)) {
      if (line !== "" && line.length + 1 + word.length > width) {
        lines.push(line);
        line = "";
      }
      line = line === "" ? word : `${line} ${word}`;
      // Between code points: half of a pair is no character.
      for (; line.length > width && width > 1; line = line.slice(cut(line, width))) lines.push(line.slice(0, cut(line, width)));
    }
    lines.push(line);
  }
  return lines;
}

function cut(line: string, width: number): number {
  const unit = line.charCodeAt(width - 1);
  return unit >= 0xd800 && unit < 0xdc00 ? width - 1 : width;
}

export function wrapText(text: string, width: number): string {
  return wrapLines(text, width).join("\n");
}

/** Two columns, the second wrapped; a first that is too wide has a line of its own. */
export function columns(rows: readonly (readonly [left: string, right: string])[], width: number, most = 30): string {
  const widest = Math.min(most, Math.max(...rows.map(([left]) => left.length)));
  return rows.map(([left, right]) => row(left, right, { left: widest, width })).join("\n");
}

export interface RowOptions {
  /** Width of the left column. */
  readonly left: number;
  /** Of the whole. */
  readonly width: number;
}

export function row(left: string, right: string, options: RowOptions): string {
  const indent = " ".repeat(options.left + 4);
  const lines = wrapLines(right, Math.max(20, options.width - indent.length));
  const fits = left.length <= options.left;
  const head = fits ? `  ${left.padEnd(options.left)}  ${lines.shift() ?? ""}` : `  ${left}`;
  return [head.trimEnd(), ...lines.map((line) => `${indent}${line}`.trimEnd())].join("\n");
}
