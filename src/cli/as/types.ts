/** A flag of another program, and what it comes to here. */
export interface ForeignFlag {
  readonly name: string;
  /** `switch` takes true or false at most, `list` every word up to the next flag. */
  readonly takes: "switch" | "value" | "list";
  /** What stands in its place here. */
  readonly ours?: string;
  /** Our arguments for a value of it. Without this, `compose` looks at the flag. */
  readonly give?: (value: string) => readonly string[];
  /** Why it has no meaning here: said on stderr when it is given. */
  readonly ignored?: string;
  /** Why nothing is started with it. */
  readonly refused?: string;
}

/** What was given, by flag. */
export interface ForeignArgs {
  has(flag: string): boolean;
  text(flag: string): string | undefined;
  list(flag: string): readonly string[];
  /** Words that are no flags; what comes after `--` is in `command`. */
  readonly words: readonly string[];
  readonly command: readonly string[] | undefined;
}

/** Our arguments for all that a flag alone does not say: where to listen, what to talk to. */
export interface Composed {
  readonly args: readonly string[];
  /** The command to start. */
  readonly command?: readonly string[];
  /** What the user should know. */
  readonly notes?: readonly string[];
  /** Secrets, which are no arguments. */
  readonly env?: Readonly<Record<string, string>>;
}

/** A program that `anywire bridge --as` stands in for. */
export interface ForeignProgram {
  readonly name: string;
  /** The one whose `--help` the flags are from. */
  readonly version: string;
  readonly flags: readonly ForeignFlag[];
  /** The first word that is no flag begins the command to start. */
  readonly wordsAreCommand?: true;
  /** Throws a Fault if the program would not start either. */
  compose(given: ForeignArgs): Composed;
}

/** The same option of ours, with the value as it is. */
export function sameOption(option: string): Pick<ForeignFlag, "ours" | "give"> {
  return { ours: `--${option}`, give: (value) => [`--${option}`, value] };
}

/** Milliseconds, or seconds, as a duration of ours. */
export function duration(option: string, unit: "ms" | "s"): Pick<ForeignFlag, "ours" | "give"> {
  return { ours: `--${option}`, give: (value) => [`--${option}`, `${value}${unit}`] };
}

/** An option of ours that takes no value, for a switch that is on. */
export function turnedOn(option: string): Pick<ForeignFlag, "ours" | "give"> {
  return { ours: `--${option}`, give: (value) => (value === "false" ? [] : [`--${option}`]) };
}
