// Writes man/anywire.1 from the table of commands. With --check it only says whether the file is current.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { usage } from "../dist/cli/help/help.js";
import { commands } from "../dist/cli/table/commands.js";
import { exitCodeHelp } from "../dist/cli/table/exit-codes.js";
import { connecting, everywhere } from "../dist/cli/table/options.js";

const file = fileURLToPath(new URL("../man/anywire.1", import.meta.url));

/** Text as roff: nothing in it is a request, and a hyphen can be copied as one. */
const text = (words) =>
  words
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replace(/^([.'])/gm, "\\&$1");
const bold = (words) => `\\fB${text(words)}\\fR`;

const flags = ({ name, short, kind, value }) => {
  const taken = kind === "flag" ? "" : kind === "optional" ? ` [${value}]` : ` <${value}>`;
  return `${short === undefined ? "" : `${bold(`-${short}`)}, `}${bold(`--${name}`)}${text(taken)}`;
};
const about = ({ about: said, kind, choices }) => (kind === "choice" ? `${said}: ${choices.join(", ")}` : said);
const term = (head, words) => `.TP\n${head}\n${text(words)}`;
const options = (list) => list.map((option) => term(flags(option), about(option)));
const shared = (option) => connecting.includes(option);

const command = (spec) => [
  `.SS ${spec.name}`,
  `${text(spec.about[0].toUpperCase() + spec.about.slice(1))}.`,
  `.PP\n.nf\n${text(usage(spec))}\n.fi`,
  ...(spec.notes ?? []).map((note) => `.PP\n${text(note)}`),
  ...options(spec.options.filter((option) => !shared(option))),
  ...(spec.options.filter(shared).length === connecting.length ? [".PP\nTakes the options of the server too."] : []),
  `.PP\n.nf\n${spec.examples.map((example) => text(example)).join("\n")}\n.fi`,
];

const page = [
  '.TH ANYWIRE 1 "" "anywire" "User Commands"',
  ".SH NAME",
  "anywire \\- any MCP client, any MCP server, any wire, either era",
  ".SH SYNOPSIS",
  `${bold("anywire")} ${text("<command> [options] (<url> | -- <command...>)")}`,
  ".SH DESCRIPTION",
  text(
    "Puts an MCP server on every wire, and talks to any MCP server from a shell. A server is named by its URL, by -- and the command that starts it, or by --config and --server.",
  ),
  ".SH COMMANDS",
  ...commands.flatMap(command),
  ".SH OPTIONS OF THE SERVER",
  "Every command that talks to a server takes these.",
  ...options(connecting),
  ".SH OPTIONS OF EVERY COMMAND",
  ...options(everywhere),
  ".SH EXIT STATUS",
  ...exitCodeHelp.map(([code, meaning]) => term(bold(code), meaning)),
  ".SH FILES",
  term("\\fI~/.config/anywire/tokens.json\\fR", "tokens of servers that were signed in to; below $XDG_CONFIG_HOME if that is set"),
  term("\\fI~/.local/state/anywire/history\\fR", "lines of anywire shell; below $XDG_STATE_HOME if that is set"),
  term("\\fI~/.cache/anywire/schemas\\fR", "schemas of anywire schema resolve; below $XDG_CACHE_HOME if that is set"),
  ".SH ENVIRONMENT",
  term(bold("NO_COLOR"), "no colours"),
  term(bold("COLUMNS"), "the width of help and lists where stdout is not a terminal"),
  "",
].join("\n");

if (process.argv.includes("--check")) {
  if (readFileSync(file, "utf8") !== page) {
    console.error("man/anywire.1 is not current: npm run man writes it");
    process.exitCode = 1;
  }
} else {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, page);
}
