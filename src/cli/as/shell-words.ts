/** Splits a command line at spaces if it needs no shell. Otherwise a shell runs it. */
export function shellWords(line: string): string[] {
  const words = line.trim().match(/(?:"[^"\\$`]*"|'[^']*'|[^\s"'])+/g) ?? [];
  const plain = words.map((word) => word.replaceAll(/"([^"]*)"|'([^']*)'/g, "$1$2"));
  const unquoted = line.replaceAll(/"[^"\\$`]*"|'[^']*'/g, "");
  if (/^[\w@%+=:,./\s-]*$/.test(unquoted) && !/^\w+=/.test(plain[0] ?? "")) return plain;
  return process.platform === "win32" ? ["cmd", "/d", "/s", "/c", line] : ["sh", "-c", line];
}
