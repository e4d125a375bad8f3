/** What an option takes. A flag takes nothing; `optional` may take a number right after it. */
export type OptionKind = "flag" | "text" | "whole" | "bytes" | "duration" | "choice" | "optional";

export interface OptionSpec {
  readonly name: string;
  readonly short?: string;
  readonly kind: OptionKind;
  /** How help calls what it takes. */
  readonly value?: string;
  readonly choices?: readonly string[];
  /** May be given several times. */
  readonly many?: true;
  /** Shell completion offers files. */
  readonly files?: true;
  readonly about: string;
  /** The heading that help puts it under. */
  readonly group?: string;
}

export interface PositionalSpec {
  readonly name: string;
  readonly optional?: true;
  readonly many?: true;
  /** Must be `key=value`. */
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

/** All there is to know of a command: parsing, help and shell completion are made from it. */
export interface CommandSpec {
  readonly name: CommandName;
  readonly about: string;
  /** Ends with what to talk to: a URL, or `--` and a command to start. `optional`: unless an option says it. `or-file`: a file can take its place. */
  readonly target: boolean | "optional" | "or-file";
  readonly positionals: readonly PositionalSpec[];
  readonly options: readonly OptionSpec[];
  /** Paragraphs for its own help. */
  readonly notes?: readonly string[];
  readonly examples: readonly string[];
}
