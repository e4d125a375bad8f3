import { jsonText } from "../../core/index.js";
import type { CommandSession } from "../session/session.js";
import { cleanLine } from "./clean.js";
import { row } from "./wrap.js";

/** How one element of a list is shown: its name, then lines about it. */
export interface Entry {
  readonly name: string;
  readonly about: string;
  /** Lines in a lighter style. */
  readonly details: readonly (string | undefined)[];
}

const LEFT = 22;

/** Writes each element of a list as it arrives: unchanged for programs, as an entry for people. */
export async function writeList<T>(
  session: CommandSession,
  items: AsyncIterable<T>,
  entryOf: (item: T) => Entry,
  none: string,
): Promise<number> {
  const { out, screen, style, width, input } = session;
  const json = input.options.has("json");
  let any = false;
  for await (const item of items) {
    any = true;
    await out.write(json ? `${jsonText(item)}\n` : `${entryText(entryOf(item), style, width)}\n`);
  }
  if (!any && !json) screen.line(none);
  return 0;
}

function entryText({ name, about, details }: Entry, style: CommandSession["style"], width: number): string {
  const plain = cleanLine(name);
  const head = row(plain, cleanLine(about), { left: LEFT, width }).replace(plain, () => style.bold(plain));
  const lines = details.flatMap((detail) =>
    detail === undefined || detail === "" ? [] : row("", cleanLine(detail), { left: LEFT, width }),
  );
  return [head, ...lines.map((line) => style.dim(line))].join("\n");
}
