// Checks the prose of the README, the docs and the help of the command against the rules below. Prints what breaks a rule, and fails if anything does.
// Name files to check only those: npm run prose -- docs/recipes.md
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const MAX_WORDS = 35;

/** What to write instead, by what not to write. */
const rules = [
  [/\boctets?\b/i, "bytes"],
  [/(?<!there )\b(is|are|was|were) no (?!longer\b|more than\b|fewer than\b|less than\b)\w+/i, "is not a"],
  [/\b(whoever|whomever|nobody|somebody|anybody|everybody)\b/i, "name who: a client, a caller, a server"],
  [/\b(hears?|heard)\b/i, "is told, receives, sees"],
  [/\bin (the |its )?place of\b/i, "instead of"],
  [/\b(unless|until) (said|told|given) otherwise\b|\bunless given\b|\bsays? otherwise\b/i, "by default"],
  [/\bwithout a word\b|\bwith a word\b|\ba word on\b/i, "say what is printed"],
  [/\b(kin|manner|clothes|crowd|strangers?|desk|born)\b/i, "an ordinary word"],
  [/\b(heeds?|anew|afresh|thereby|whence|hence|thus|henceforth|beforehand|alike|thereof|wherein)\b/i, "a simpler word"],
  [/\b(is|are|was|were|be|been) gone\b/i, "has left, is closed, was removed"],
  [/\b(gone|go|goes|went) on with\b/i, "resumes, continues"],
  [/\bgets? on with\b/i, "works with"],
  [
    /\b(calls?|bytes|[kKMG]i?B|lines|times|messages|chunks|items|tools|µs|microseconds) an? (second|minute|call|message|chunk|request|run)\b/i,
    "per second, per call",
  ],
  [/\bmostly (fails?|works?)\b/i, "usually"],
  [/\bof no wire\b|\bof no \w+ at all\b/i, "an unknown address"],
  [/\bnot any ?more\b/i, "no longer"],
  [/\b(demands?|demanded) (them|it|the one)\b/i, "requires"],
  [/\bfor lack of\b|\bin want of\b/i, "without"],
  [/\b(so|as) long as it takes\b|\bas often as it takes\b/i, "say how long or how often"],
  [/\bhold(s)? up\b/i, "blocks, delays"],
  [/\bwhose is it what\b|\bwhat (is|are) no\b|\bthat what\b/i, "name the thing"],
  [/\bthe one\b[^.]*\bthe other\b/i, "name both"],
  [/\balso (if|when|without|during|where|through|after|in the middle)\b/i, "even if, even without"],
  [/\b(goes|go|went|going) on\b/i, "continues"],
  [/\bprocessor time\b/i, "CPU time"],
  [/\btells? of\b|\btold of\b/i, "reports, announces"],
  [/\blets? go of\b|\blet go\b/i, "releases, drops"],
  [/\bof use\b/i, "works, is valid"],
  [/\bin all\b/i, "in total"],
  [/\b(of|by) who\b|\bto who\b/i, "name who"],
  [/\bwithout (an )?end\b/i, "endlessly, endless"],
  [/\bare? looked at\b|\bis looked at\b/i, "is checked, is read"],
  [/\bmebibytes?\b/i, "MiB"],
  [/\bin the name of\b/i, "for, on behalf of"],
  [/\bsign(s)? of life\b/i, "keepalive"],
  [/\bput together\b|\bmade of\b/i, "built from"],
  [/\b(utilize|leverage|seamless(ly)?|simply|easily|obviously|of course)\b/i, "leave it out"],
];

const root = fileURLToPath(new URL("..", import.meta.url));
/** Tables that a program writes have cells of any length. */
const generated = /^docs\/(mapping|api)\//;

const named = process.argv.slice(2);
const pages =
  named.length > 0
    ? named
    : ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "RELEASING.md", "examples/README.md", ...markdown("docs")];
let flagged = 0;
for (const page of pages) check(page, sentencesOf(readFileSync(join(root, page), "utf8")), !generated.test(page));
if (named.length === 0)
  for (const [name, text] of help()) check(name, sentencesOf(text.replace(/^ {2,8}(?=\S)/gm, "- ").replace(/ {2,}/g, " ")), true);
console.log(`${flagged} sentences flagged in ${pages.length} pages`);
process.exitCode = flagged > 0 ? 1 : 0;

function check(name, sentences, bounded) {
  for (const { line, text } of sentences) {
    const words = text.split(/\s+/).filter((word) => /\w/.test(word)).length;
    const broken = rules.filter(([pattern]) => pattern.test(text)).map(([pattern, better]) => `"${pattern.exec(text)[0]}": ${better}`);
    if (/^What\b.*[.:]$/.test(text) && / (is|are|has|have|was|were|does) /.test(text)) broken.push("begins with What: name the subject");
    if ((text.match(/;/g) ?? []).length > 1) broken.push("several semicolons: one idea a sentence");
    if (bounded && words > MAX_WORDS) broken.push(`${words} words: at most ${MAX_WORDS}`);
    if (broken.length === 0) continue;
    flagged++;
    console.log(`${name}:${line}: ${broken.join("; ")}\n    ${text}`);
  }
}

/** The sentences of a page with the lines that they begin near. Code does not count; a code span is one word. */
function sentencesOf(markdownText) {
  const blank = (text) => text.replace(/[^\n]/g, "");
  const prose = markdownText
    .replace(/^---\n.*?^---\n/ms, blank)
    .replace(/^( *)```.*?^\1```/gms, blank)
    .replace(/<!--.*?-->/gs, blank);
  const found = [];
  for (const [at, block] of blocksOf(prose)) {
    const plain = block
      // The titles of tests, which a table names behind the file of each.
      .replace(/`(src|test)\/[^`]+`((?:[:,] "[^"]+")*)/g, "`test`")
      .replace(/``[^`]+``|`[^`]+`/g, "Code")
      .replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
      .replace(/[*_]{1,2}(?=\S)|(?<=\S)[*_]{1,2}/g, "")
      .replace(/<[^>]+>/g, "");
    for (const text of plain.split(/(?<=[.!?])["')]*\s+(?=["'(]?[A-Z0-9])/))
      if (/\w/.test(text)) found.push({ line: at, text: text.trim() });
  }
  return found;
}

/** Paragraphs, list items, headings and table cells, each with its first line. */
function* blocksOf(text) {
  let start = 0;
  let block = "";
  for (const [at, line] of text.split("\n").entries()) {
    const begins = /^\s*([-*+] |\d+\. |#|\||>|$)/.test(line);
    if (begins && block !== "") yield [start, block];
    if (begins) block = "";
    if (/^\s*\|/.test(line)) {
      for (const cell of line.replaceAll("\\|", "/").split("|")) if (/[^\s:-]/.test(cell)) yield [at + 1, cell.trim()];
      continue;
    }
    if (block === "") start = at + 1;
    block = `${block} ${line.replace(/^\s*([-*+]|\d+\.|#+|>)\s/, "")}`.trim();
  }
  if (block !== "") yield [start, block];
}

function markdown(folder) {
  const skipped = /(^|\/)(node_modules|\.vitepress|api)\//;
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md") && !skipped.test(name))
    .map((name) => `${folder}/${name}`)
    .sort();
}

/** The help of the command and of each of its commands. */
function* help() {
  const shown = (...words) =>
    spawnSync(process.execPath, [join(root, "bin/anywire.js"), ...words, "--help"], {
      encoding: "utf8",
      env: { ...process.env, COLUMNS: "200" },
    }).stdout;
  const text = shown();
  yield ["anywire --help", text];
  const commands = /\ncommands\n(.*?)\n\n/s.exec(text)?.[1] ?? "";
  for (const [, command] of commands.matchAll(/^ {2}(\w+)/gm)) yield [`anywire ${command} --help`, shown(command)];
}
