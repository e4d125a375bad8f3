import { access, constants, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { type Command, Fault } from "../core/index.js";
import { codeOf } from "../stream/index.js";

/** Why a command did not start, in one clear message. The system's error stays out: it quotes the arguments, which may hold secrets. */
export async function startFault(command: Command, code: string | undefined, platform: string = process.platform): Promise<Fault> {
  const say = (why: string, reason: string): Fault =>
    new Fault("unavailable", `cannot start \`${command.command}\`: ${why}`, { data: { reason } });

  // The system reports the same error for a missing directory and a missing command.
  if (command.cwd !== undefined) {
    const why = await whyNotEntered(command.cwd);
    if (why !== undefined) return say(`the directory \`${command.cwd}\` ${why}`, "bad-directory");
  }
  // Such files need a shell, which would read the arguments in its own way.
  if (platform === "win32" && (code === "EINVAL" || (code === "ENOENT" && /^(npx|npm|pnpm|yarn|uvx)$/i.test(command.command))))
    return say("on Windows it is a .cmd file, and these are not started: name `node` and the script, or the .exe", "not-executable");
  switch (code) {
    case "ENOENT":
      if (await isThere(command)) return say("its interpreter was not found", "not-found");
      return say(
        `command not found${/\s/.test(command.command) ? "; the command is one word, and its arguments are given apart" : ""}`,
        "not-found",
      );
    case "EACCES":
      return say("permission denied, it is not executable", "not-executable");
    default:
      return say(`the system refused (${code ?? "unknown error"})`, "not-started");
  }
}

async function whyNotEntered(directory: string): Promise<string | undefined> {
  try {
    if (!(await stat(directory)).isDirectory()) return "is not a directory";
    await access(directory, constants.X_OK);
    return undefined;
  } catch (error) {
    return codeOf(error) === "EACCES" ? "cannot be entered" : "does not exist";
  }
}

async function isThere(command: Command): Promise<boolean> {
  if (!command.command.includes("/")) return false;
  return stat(resolve(command.cwd ?? ".", command.command)).then(
    () => true,
    () => false,
  );
}
