import { commands } from "../table/commands.js";
import { everywhere } from "../table/options.js";
import type { CommandSpec, OptionSpec } from "../table/types.js";

/** Scripts that make a shell complete the commands and options of the table. */
export const completionScripts: Readonly<Record<string, () => string>> = { bash, zsh, fish };

const optionsOf = (command: CommandSpec): readonly OptionSpec[] => [...command.options, ...everywhere];
const dashed = (option: OptionSpec): string[] => [`--${option.name}`, ...(option.short === undefined ? [] : [`-${option.short}`])];
const takesValue = ({ kind }: OptionSpec): boolean => kind !== "flag" && kind !== "optional";
const choicesOf = ({ positionals }: CommandSpec): readonly string[] => positionals.flatMap(({ choices }) => choices ?? []);
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** Options whose values are completed the same way for every command. */
function valued(): OptionSpec[] {
  const all = new Map(commands.flatMap(({ options }) => options.filter(takesValue).map((option) => [option.name, option])));
  return [...all.values()];
}

function bash(): string {
  const values = valued().map((option) => {
    const reply =
      option.choices === undefined
        ? option.files
          ? 'compgen -f -- "$word"'
          : ""
        : `compgen -W ${quoted(option.choices.join(" "))} -- "$word"`;
    return `    ${dashed(option).join("|")}) ${reply === "" ? "COMPREPLY=()" : `mapfile -t COMPREPLY < <(${reply})`}; return ;;`;
  });
  const words = commands.map((command) => {
    const all = [...choicesOf(command), ...optionsOf(command).flatMap(dashed), ...(command.target ? ["--"] : [])];
    return `    ${command.name}) words=${quoted(all.join(" "))} ;;`;
  });
  return `# anywire completion for bash: source <(anywire completion bash)
_anywire() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} words at
  COMPREPLY=()
  for ((at = 1; at < COMP_CWORD; at++)); do
    if [[ \${COMP_WORDS[at]} == -- ]]; then
      # A command of its own begins: its own completion takes over, if there is one.
      if declare -F _command_offset > /dev/null; then _command_offset $((at + 1)); else mapfile -t COMPREPLY < <(compgen -f -- "$word"); fi
      return
    fi
  done
  case $before in
${values.join("\n")}
  esac
  if ((COMP_CWORD == 1)); then
    words=${quoted([...commands.map(({ name }) => name), ...everywhere.flatMap(dashed)].join(" "))}
  else
    case \${COMP_WORDS[1]} in
${words.join("\n")}
    *) return ;;
    esac
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -o default -F _anywire anywire
`;
}

function zsh(): string {
  const plain = (text: string): string => text.replace(/[[\]:]/g, " ");
  const argument = (option: OptionSpec): string[] =>
    dashed(option).map((flag) => {
      const action = option.choices === undefined ? (option.files ? "_files" : "") : `(${option.choices.join(" ")})`;
      const value = takesValue(option) ? `:${plain(option.value ?? option.name)}:${action}` : "";
      return quoted(`${option.many === true ? "*" : ""}${flag}[${plain(option.about)}]${value}`);
    });
  const cases = commands.map((command) => {
    const positional = choicesOf(command).length > 0 ? [quoted(`:argument:(${choicesOf(command).join(" ")})`)] : [quoted("*: :_default")];
    return `    ${command.name}) _arguments ${[...optionsOf(command).flatMap(argument), ...positional].join(" ")} ;;`;
  });
  return `#compdef anywire
# anywire completion for zsh: source <(anywire completion zsh), or a file named _anywire in a directory of $fpath
_anywire() {
  local dashes=\${words[(I)--]}
  if ((dashes > 1 && dashes < CURRENT)); then
    shift $dashes words
    ((CURRENT -= dashes))
    _normal
    return
  fi
  if ((CURRENT == 2)); then
    local -a commands=(${commands.map(({ name, about }) => quoted(`${name}:${plain(about)}`)).join(" ")})
    _describe command commands
    return
  fi
  local command=\${words[2]}
  shift words
  ((CURRENT--))
  case $command in
${cases.join("\n")}
  esac
}
if [[ $funcstack[1] == _anywire ]]; then
  _anywire "$@"
else
  # Sourced, perhaps by a .zshrc that has not set completion up.
  (($+functions[compdef])) || { autoload -Uz compinit && compinit -i }
  compdef _anywire anywire
fi
`;
}

function fish(): string {
  const lines = [
    "# anywire completion for fish: anywire completion fish > ~/.config/fish/completions/anywire.fish",
    "complete -c anywire -f",
  ];
  const among = (name: string): string => quoted(`__fish_seen_subcommand_from ${name}`);
  const option = (condition: string, spec: OptionSpec): string => {
    const value = !takesValue(spec)
      ? ""
      : spec.choices !== undefined
        ? ` -x -a ${quoted(spec.choices.join(" "))}`
        : spec.files
          ? " -r -F"
          : " -x";
    return `complete -c anywire${condition} -l ${spec.name}${spec.short === undefined ? "" : ` -s ${spec.short}`}${value} -d ${quoted(spec.about)}`;
  };
  for (const { name, about } of commands) lines.push(`complete -c anywire -n __fish_use_subcommand -a ${name} -d ${quoted(about)}`);
  for (const spec of everywhere) lines.push(option("", spec));
  for (const command of commands) {
    for (const spec of command.options) lines.push(option(` -n ${among(command.name)}`, spec));
    if (choicesOf(command).length > 0)
      lines.push(`complete -c anywire -n ${among(command.name)} -a ${quoted(choicesOf(command).join(" "))}`);
  }
  return `${lines.join("\n")}\n`;
}
