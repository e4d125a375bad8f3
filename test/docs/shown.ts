import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "../..");

/** What is wrong with a cell that names specs and their tests, as `path`: "title", "title". */
export function wrongIn(cell: string): string[] {
  const specs = [...cell.matchAll(/`((?:src|test)\/[^`]+)`((?:[:,] "[^"]+")*)/g)];
  if (specs.length === 0) return /^not yet/.test(cell) ? [] : ["names no spec"];
  return specs.flatMap(([, path = "", named = ""]) => {
    if (!existsSync(join(root, path))) return [`${path} is not there`];
    const source = readFileSync(join(root, path), "utf8");
    const titles = [...named.matchAll(/"([^"]+)"/g)].map(([, title = ""]) => title);
    if (titles.length === 0) return [`${path}: no test is named`];
    return titles
      .filter((title) => ![`"${title}"`, `\`${title}\``].some((text) => source.includes(text)))
      .map((title) => `${path}: ${title}`);
  });
}
