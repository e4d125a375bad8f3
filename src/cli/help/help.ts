import { columns, wrapText } from "../out/wrap.js";
import { commands } from "../table/commands.js";
import { exitCodeHelp } from "../table/exit-codes.js";
import { everywhere } from "../table/options.js";
import type { CommandSpec, OptionSpec, PositionalSpec } from "../table/types.js";

/** The help of one command, or the overview. */
export function help(command: CommandSpec | undefined, width: number): string {
  return command === undefined ? overview(width) : detail(command, width);
}

const target = "(<url> | -- <command...>)";
/** How the usage line shows the server, by the kind of target. */
const targets = { optional: `[${target}]`, "or-file": "(<url> | <file> | -- <command...>)" } as const;

function overview(width: number): string {
  return `${wrapText("anywire: any MCP client, any MCP server, any wire, either era", width)}

usage
${indented(`anywire <command> [options] ${target}`, width)}
  anywire <command> --help

commands
${columns(
  commands.map(({ name, about }) => [name, about]),
  width,
)}

${wrapText("A server is named by its URL, by -- and the command that starts it, or by --config and --server.", width)}

options
${options(everywhere, width)}

exit codes
${columns(exitCodeHelp, width)}

examples
${overviewExamples.map((example) => exampleText(example, width)).join("\n")}
`;
}

const overviewExamples: readonly string[] = [
  "anywire bridge -- npx -y @modelcontextprotocol/server-everything",
  "anywire demo --tour",
  "anywire tools -- npx -y @modelcontextprotocol/server-everything",
  "anywire call echo text=hello -- anywire demo",
  "anywire read demo://generated/1gb -o 1gb.bin -- anywire demo",
];

function detail(command: CommandSpec, width: number): string {
  const notes = (command.notes ?? []).map((note) => `\n${wrapText(note, width)}\n`).join("");
  const codes = command.target
    ? `\nexit codes\n${columns(
        exitCodeHelp.filter(([code]) => code !== "3" || command.name === "call"),
        width,
      )}\n`
    : "";
  return `${wrapText(`anywire ${command.name}: ${command.about}`, width)}

usage
${indented(usage(command), width)}
${notes}
${grouped([...command.options, ...everywhere], width)}
${codes}
examples
${command.examples.map((example) => exampleText(example, width)).join("\n")}
`;
}

function indented(text: string, width: number): string {
  return wrapText(`  ${text}`, width, { indent: "    ", whole: true });
}

/** An example that can be pasted even if it takes several lines: no line ends within quotes. */
function exampleText(example: string, width: number): string {
  const joined = example.replace(/'[^']*'/g, (quoted) => quoted.replaceAll(" ", "\u00a0"));
  const lines = indented(joined, example.length + 2 <= width ? width : width - 2);
  return lines.replaceAll("\u00a0", " ").replaceAll("\n", " \\\n");
}

export function usage(command: CommandSpec): string {
  const positionals = command.target === "or-file" ? command.positionals.slice(0, -1) : command.positionals;
  return [
    "anywire",
    command.name,
    ...positionals.map(shape),
    "[options]",
    ...(command.target === false ? [] : [command.target === true ? target : targets[command.target]]),
  ].join(" ");
}

function shape({ name, optional, many, choices }: PositionalSpec): string {
  const named = choices?.join("|") ?? (optional || name.includes("<") ? name : `<${name}>`);
  const all = many ? `${named}...` : named;
  return optional ? `[${all}]` : all;
}

/** Options under their headings. Those without one come last. */
function grouped(list: readonly OptionSpec[], width: number): string {
  const names = [...new Set(list.map(({ group = "options" }) => group))];
  const last = names.filter((name) => name !== "options");
  return [...last, "options"]
    .map(
      (name) =>
        `${name}\n${options(
          list.filter(({ group = "options" }) => group === name),
          width,
        )}`,
    )
    .join("\n\n");
}

function options(list: readonly OptionSpec[], width: number): string {
  return columns(
    list.map((option) => [flags(option), option.kind === "choice" ? `${option.about}: ${option.choices?.join(", ")}` : option.about]),
    width,
  );
}

function flags({ name, short, kind, value }: OptionSpec): string {
  const long = `--${name}${kind === "flag" ? "" : kind === "optional" ? ` [${value}]` : ` <${value}>`}`;
  return short === undefined ? `    ${long}` : `-${short}, ${long}`;
}
