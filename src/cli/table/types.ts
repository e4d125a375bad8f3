/** What an option takes. A flag takes nothing; `optional` may take a number right after it. */
export type OptionKind = "flag" | "text" | "whole" | "bytes" | "duration" | "choice" | "optional";

export interface OptionSpec {
  readonly name: string;
  readonly short?: string;
  readonly kind: OptionKind;
  /** The name of its value in the help. */
  readonly value?: string;
  readonly choices?: readonly string[];
  /** Whether it may be given several times. */
  readonly many?: true;
  /** Whether shell completion offers files. */
  readonly files?: true;
  readonly about: string;
  /** Its heading in the help. */
  readonly group?: string;
}

export interface PositionalSpec {
  readonly name: string;
  readonly optional?: true;
  readonly many?: true;
  /** Whether it must be `key=value`. */
  readonly pair?: true;
  readonly choices?: readonly string[];
}

export type CommandName =
  | "tools"
  | "call"
  | "shell"
  | "resources"
  | "read"
  | "prompts"
  | "prompt"
  | "complete"
  | "watch"
  | "ping"
  | "discover"
  | "logout"
  | "bridge"
  | "demo"
  | "completion"
  | "schema"
  | "tokens";

/** Everything about a command. Parsing, help and shell completion are made from it. */
export interface CommandSpec {
  readonly name: CommandName;
  readonly about: string;
  /**
   * Whether it ends with the server: a URL, or `--` and a command to start. `optional`: unless an option names it. `or-file`: a file can
   * take its place.
   */
  readonly target: boolean | "optional" | "or-file";
  readonly positionals: readonly PositionalSpec[];
  readonly options: readonly OptionSpec[];
  /** Paragraphs for its help. */
  readonly notes?: readonly string[];
  readonly examples: readonly string[];
}
