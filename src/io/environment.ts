import type { Command } from "../core/index.js";

const posixNames = ["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "LANG", "TZ", "TMPDIR"];

const windowsNames = [
  "APPDATA",
  "HOMEDRIVE",
  "HOMEPATH",
  "LOCALAPPDATA",
  "PATH",
  "PATHEXT",
  "PROCESSOR_ARCHITECTURE",
  "SYSTEMDRIVE",
  "SYSTEMROOT",
  "TEMP",
  "USERNAME",
  "USERPROFILE",
];

type Environment = Readonly<Record<string, string | undefined>>;

/** The environment of a child: the harmless part of the parent's, the variables it inherits by name, and its own additions. */
export function childEnvironment(
  command: Pick<Command, "env" | "inherit">,
  parent: Environment = process.env,
  platform: NodeJS.Platform = process.platform,
): Record<string, string> {
  const names = platform === "win32" ? windowsNames : [...posixNames, ...Object.keys(parent).filter((name) => name.startsWith("LC_"))];
  const seen: Record<string, string> = Object.create(null);
  for (const name of [...names, ...(command.inherit ?? [])]) {
    const value = parent[name];
    // Some shells would define, and run, a value that starts with "()" as a function in the child.
    if (value !== undefined && !value.startsWith("()")) seen[name] = value;
  }
  for (const [name, value] of Object.entries(command.env ?? {})) seen[name] = value;
  return seen;
}
