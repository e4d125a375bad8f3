import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

export const root = resolve(import.meta.dirname, "../..");

/** A fenced block of a page. */
export interface Block {
  readonly page: string;
  readonly line: number;
  readonly language: string;
  readonly text: string;
  /** The nearest heading above it. */
  readonly section: string;
  /** Why it is not run: `<!-- not run: reason -->` in the line above it. */
  readonly notRun: string | undefined;
  /** The server that has to run: `<!-- needs: command -->` in the line above it. */
  readonly needs: string | undefined;
}

const inside = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md") && !/(^|\/)(api|node_modules|\.vitepress)\//.test(name))
    .map((name) => `${folder}/${name}`);

export const pages = ["README.md", "CONTRIBUTING.md", "RELEASING.md", "SECURITY.md", "examples/README.md", ...inside("docs")].sort();

export const blocks: readonly Block[] = pages.flatMap(blocksOf);

function blocksOf(page: string): Block[] {
  const found: Block[] = [];
  const lines = readFileSync(join(root, page), "utf8").split("\n");
  let section = "";
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? "";
    if (line.startsWith("#")) section = line;
    const [, language] = /^```(\w*)$/.exec(line) ?? [];
    if (language === undefined) continue;
    const end = lines.indexOf("```", at + 1);
    const above = lines[at - 1] ?? "";
    const marked = (name: string): string | undefined => new RegExp(`^<!-- ${name}: (.+) -->$`).exec(above)?.[1];
    const text = lines.slice(at + 1, end).join("\n");
    found.push({ page, line: at + 1, language, text, section, notRun: marked("not run"), needs: marked("needs") });
    at = end;
  }
  return found;
}
