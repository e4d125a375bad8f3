/** A flag of another program, and its meaning here. */
export interface ForeignFlag {
  readonly name: string;
  /** `switch` takes at most true or false, `list` every word up to the next flag. */
  readonly takes: "switch" | "value" | "list";
  /** Our option for it. */
  readonly ours?: string;
  /** Our arguments for its value. Without this, `compose` handles the flag. */
  readonly give?: (value: string) => readonly string[];
  /** Why it has no meaning here. Printed on stderr when it is given. */
  readonly ignored?: string;
  /** Why it is refused. */
  readonly refused?: string;
}

/** The given arguments, by flag. */
export interface ForeignArgs {
  has(flag: string): boolean;
  text(flag: string): string | undefined;
  list(flag: string): readonly string[];
  /** Words that are not flags. What comes after `--` is in `command`. */
  readonly words: readonly string[];
  readonly command: readonly string[] | undefined;
}

/** Our arguments for everything that is not a single flag: where to listen, what to talk to. */
export interface Composed {
  readonly args: readonly string[];
  /** The command to start. */
  readonly command?: readonly string[];
  /** Notes for the user. */
  readonly notes?: readonly string[];
  /** Secrets, which must not be arguments. */
  readonly env?: Readonly<Record<string, string>>;
}

/** A program that `anywire bridge --as` can replace. */
export interface ForeignProgram {
  readonly name: string;
  /** The version whose `--help` lists these flags. */
  readonly version: string;
  readonly flags: readonly ForeignFlag[];
  /** The prefix of the variables that it reads in place of flags: `MCP_PROXY` for `MCP_PROXY_API_KEY`, which is `--apiKey`. */
  readonly variables?: string;
  /** Whether the first word that is not a flag begins the command to start. */
  readonly wordsAreCommand?: true;
  /** Throws a Fault if the program itself would not start either. */
  compose(given: ForeignArgs): Composed;
}

/** Our option of the same meaning, with the value unchanged. */
export function sameOption(option: string): Pick<ForeignFlag, "ours" | "give"> {
  return { ours: `--${option}`, give: (value) => [`--${option}`, value] };
}

/** Our duration option, for a value in milliseconds or seconds. */
export function duration(option: string, unit: "ms" | "s"): Pick<ForeignFlag, "ours" | "give"> {
  return { ours: `--${option}`, give: (value) => [`--${option}`, `${value}${unit}`] };
}

/** Our flag, for a switch that is on. */
export function turnedOn(option: string): Pick<ForeignFlag, "ours" | "give"> {
  return { ours: `--${option}`, give: (value) => (value === "false" ? [] : [`--${option}`]) };
}
