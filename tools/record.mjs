import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

// Runs the commands of the session in README.md and puts what they print between its markers.
const root = fileURLToPath(new URL("..", import.meta.url));
const anywire = join(root, "bin", "anywire.js");
const readme = join(root, "README.md");
const scratch = mkdtempSync(join(tmpdir(), "anywire-record-"));

const session = [
  { line: "anywire tools -- anywire demo", lines: 6 },
  { line: "anywire call weather city=Oslo -- anywire demo" },
  { line: "anywire call count to=3 --json --events -- anywire demo" },
  { line: "anywire call cuont to=3 -- anywire demo", code: 1 },
  { line: "anywire read demo://generated/100mb -o big.bin -- anywire demo" },
];

/** What a command prints, stdout before stderr; throws unless it exits with the code that is expected. */
function play({ line, lines = Number.POSITIVE_INFINITY, code = 0 }) {
  const words = line.split(" ").flatMap((word) => (word === "anywire" ? [process.execPath, anywire] : [word]));
  const { status, stdout, stderr } = spawnSync(words[0], words.slice(1), {
    cwd: scratch,
    env: { PATH: process.env.PATH },
    encoding: "utf8",
    timeout: 60_000,
  });
  const printed = normal(stdout + stderr)
    .trimEnd()
    .split("\n");
  if (status !== code) throw new Error(`${line}\nexited with ${status}, not ${code}:\n${printed.join("\n")}`);
  const rest = printed.length > lines ? ["..."] : [];
  return [`$ ${line}`, ...printed.slice(0, lines), ...rest].join("\n");
}

/** Times and speeds differ from run to run. */
function normal(text) {
  return text.replace(/\b[\d.]+ (ms|s)\b/g, "N $1").replace(/\b[\d.]+ ([kMG]?B\/s)/g, "N $1");
}

try {
  const block = `<!-- session -->\n\`\`\`console\n${session.map(play).join("\n")}\n\`\`\`\n<!-- /session -->`;
  const before = readFileSync(readme, "utf8");
  const marked = /<!-- session -->[\s\S]*<!-- \/session -->/;
  if (!marked.test(before)) throw new Error("README.md has no markers for the session");
  writeFileSync(
    readme,
    before.replace(marked, () => block),
  );
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
