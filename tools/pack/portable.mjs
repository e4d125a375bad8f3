/** What a project need not have installed: the types of Node, and packages that are optional peers. */
const foreign =
  /(?:from |import\()"(?:node:|@modelcontextprotocol\/|@bufbuild\/protovalidate|gpt-tokenizer)|\bNodeJS\.|(?<![.\w])Buffer\b(?!\?)/;

/**
 * A declaration file for projects without those, and for an older TypeScript. What such a line names is `any` to them; to all others
 * nothing changes. Whoever names none of it needs none of it.
 */
export function portable(text) {
  const lines = text
    .split("\n")
    .flatMap((line) => (foreign.test(line) && !/^\s*(\/?\*|\/\/)/.test(line) ? ["// @ts-ignore", line] : [line]));
  const disposable = /\b(Async)?Disposable\b/.test(text) ? '/// <reference lib="esnext.disposable" />\n' : "";
  return `${disposable}${lines.join("\n")}`;
}
