import { createInterface } from "node:readline";
import { Fault } from "../../api/index.js";
import type { Input } from "../args/input.js";
import { parse } from "../args/parse.js";
import { help, usage } from "../help/help.js";
import { cleanLine } from "../out/clean.js";
import { columns } from "../out/wrap.js";
import { misuse } from "../session/mistake.js";
import { type CommandSession, withClient } from "../session/session.js";
import { completions } from "../shell/complete.js";
import { historyPath, openHistory } from "../shell/history.js";
import { lineCommands, lineRuns } from "../shell/lines.js";
import { type ShellTerminal, shellTerminal } from "../shell/terminal.js";
import { lineWords } from "../shell/words.js";
import { exitCodes } from "../table/exit-codes.js";

const LEAVE = Symbol("leave");

/** Runs line after line on one connection: typed by a person, or from a script on stdin. */
export function runShell(input: Input): Promise<number> {
  let at: ShellTerminal | undefined;
  return withClient(input, (session) => (at === undefined ? runScript(session) : converse(session, at)), {
    person: (screen) => {
      at = shellTerminal(screen, input.options.has("no-history") ? undefined : openHistory(historyPath()));
      return at;
    },
  });
}

/** Runs all lines. The exit code is that of the first line that failed. */
async function runScript(session: CommandSession): Promise<number> {
  const { screen, signal } = session;
  let [first, at]: [first: number, at: number] = [exitCodes.ok, 0];
  for await (const line of createInterface({ input: process.stdin, signal })) {
    at++;
    const code = await runLine(session, line, signal);
    if (code === LEAVE) break;
    if (code !== exitCodes.ok) screen.line(`anywire: line ${at} failed: ${cleanLine(line)}`);
    first ||= code;
  }
  return first;
}

async function converse(session: CommandSession, at: ShellTerminal): Promise<number> {
  const { client, screen, signal } = session;
  const name = cleanLine(client.server.info?.name ?? "server").slice(0, 24);
  screen.line(`Connected to ${name}. Tab completes, help lists the commands, Ctrl-C cancels a call, Ctrl-D leaves.`);
  let running: AbortController | undefined;
  let [interrupts, leave] = [0, (): void => {}];
  const left = new Promise<typeof LEAVE>((resolve) => {
    leave = () => resolve(LEAVE);
  });
  at.complete = (line) => completions(line, client, lineCommands);
  at.onInterrupt = () => {
    if (++interrupts > 1) leave();
    else if (running === undefined) at.startOver("Ctrl-C again, or Ctrl-D, leaves.");
    else running.abort(new Fault("cancelled", "interrupted"));
  };
  for (;;) {
    const line = await Promise.race([at.next(`${name}> `, signal), left]);
    if (line === LEAVE) return exitCodes.interrupted;
    if (line === undefined) return exitCodes.ok;
    interrupts = 0;
    running = new AbortController();
    const code = await Promise.race([runLine(session, line, AbortSignal.any([signal, running.signal])), left]);
    running = undefined;
    if (code === LEAVE) return interrupts > 1 ? exitCodes.interrupted : exitCodes.ok;
  }
}

async function runLine(session: CommandSession, line: string, signal: AbortSignal): Promise<number | typeof LEAVE> {
  const words = line.trimStart().startsWith("#") ? [] : lineWords(line);
  if (words?.length === 0) return exitCodes.ok;
  if (words?.[0] === "exit" || words?.[0] === "quit") return LEAVE;
  const parsed = words === undefined ? ({ tag: "misuse", message: "a quote is not closed" } as const) : parse(words, lineCommands);
  const { screen, out, width } = session;
  switch (parsed.tag) {
    case "run":
      return (
        lineRuns[parsed.command.name]?.(parsed.input, (input, work, options) =>
          session.again(input, work, { before: () => ready(input, options?.before), signal }),
        ) ?? exitCodes.misuse
      );
    case "misuse":
      screen.line(`anywire: ${parsed.message}`);
      return exitCodes.misuse;
    default:
      await out.write(parsed.tag === "help" && parsed.command !== undefined ? bare(help(parsed.command, width)) : overview(width));
      return exitCodes.ok;
  }
}

async function ready({ options }: Input, before: (() => Promise<void>) | undefined): Promise<void> {
  if (options.text("args") === "-") throw misuse("stdin has the lines of the shell: give --args as JSON, or as @file");
  await before?.();
}

function overview(width: number): string {
  const rows = lineCommands.map((command) => [bare(usage(command)).replace(" [options]", ""), command.about] as const);
  return `${columns([...rows, ["help [command]", "show this, or the options of a command"], ["exit", "leave"]], width)}\n`;
}

/** Removes the program name, which is not typed within the shell. */
function bare(text: string): string {
  return text.replace(/^( *)anywire (?!\w+:)/gm, "$1");
}
