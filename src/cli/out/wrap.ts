export interface WrapOptions {
  /** The start of every line after the first, in addition to the indent of the first. */
  readonly indent?: string;
  /** Whether to keep words whole that are longer than a line, so that they can be copied from a terminal. */
  readonly whole?: boolean;
}

/** Breaks text into lines of at most `width` characters, at spaces where possible. Its own line breaks and indents stay. */
export function wrapLines(text: string, width: number, { indent = "", whole = false }: WrapOptions = {}): string[] {
  const lines: string[] = [];
  for (const paragraph of text.split("\n")) {
    const lead = /^ */.exec(paragraph)?.[0] ?? "";
    let start = lead;
    let line = start;
    for (const word of paragraph.slice(lead.length).split(/ +/)) {
      if (line !== start && line.length + 1 + word.length > width) {
        lines.push(line);
        start = `${lead}${indent}`;
        line = start;
      }
      line = line === start ? `${line}${word}` : `${line} ${word}`;
      // Cut between code points: half of a surrogate pair is not a character.
      for (; line.length > width && width > 1 && !whole; line = line.slice(cut(line, width))) lines.push(line.slice(0, cut(line, width)));
    }
    lines.push(line);
  }
  return lines;
}

function cut(line: string, width: number): number {
  const unit = line.charCodeAt(width - 1);
  return unit >= 0xd800 && unit < 0xdc00 ? width - 1 : width;
}

export function wrapText(text: string, width: number, options?: WrapOptions): string {
  return wrapLines(text, width, options).join("\n");
}

/** The columns of a terminal; without one those of `COLUMNS`. */
export function widthOf(stream: { readonly columns?: number | undefined }, unless: number): number {
  return Math.max(20, stream.columns || Number(process.env["COLUMNS"]) || unless);
}

/** A line for a person: wrapped at spaces where a terminal would break it anywhere. */
export function fitted(text: string, stream: { readonly isTTY?: boolean; readonly columns?: number }): string {
  return stream.isTTY && stream.columns ? wrapText(text, stream.columns, { whole: true }) : text;
}

/** If the second column would be narrower than this, it goes below the first. */
const NARROW = 24;

/** Two columns, the second wrapped. If the first is too wide, it has a line of its own. */
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
  const beside = options.width - options.left - 4 >= NARROW;
  const indent = " ".repeat(beside ? options.left + 4 : 6);
  const lines = wrapLines(right, Math.max(14, options.width - indent.length));
  const fits = beside && left.length <= options.left;
  const head = fits
    ? `  ${left.padEnd(options.left)}  ${lines.shift() ?? ""}`
    : wrapText(`  ${beside ? left : left.trimStart()}`, options.width, { indent: "  ", whole: true });
  return [head.trimEnd(), ...lines.map((line) => `${indent}${line}`.trimEnd())].filter((line) => line !== "").join("\n");
}
