import type { Input } from "../args/input.js";
import { runCall } from "../commands/call.js";
import { runComplete } from "../commands/complete.js";
import { runDiscover } from "../commands/discover.js";
import { runPing } from "../commands/ping.js";
import { runPrompt } from "../commands/prompt.js";
import { runPrompts } from "../commands/prompts.js";
import { runRead } from "../commands/read.js";
import { runResources } from "../commands/resources.js";
import { runTools } from "../commands/tools.js";
import { runWatch } from "../commands/watch.js";
import type { WithClient } from "../session/session.js";
import { commands } from "../table/commands.js";
import { connecting } from "../table/options.js";
import type { CommandName, CommandSpec } from "../table/types.js";

/** The commands that a line of the shell can run. */
export const lineRuns: { readonly [name in CommandName]?: (input: Input, using: WithClient) => Promise<number> } = {
  tools: runTools,
  call: runCall,
  resources: runResources,
  read: runRead,
  prompts: runPrompts,
  prompt: runPrompt,
  complete: runComplete,
  watch: runWatch,
  ping: runPing,
  discover: runDiscover,
};

/** The commands of the shell: those that talk to a server, without the arguments that name it. */
export const lineCommands: readonly CommandSpec[] = commands
  .filter(({ name }) => name in lineRuns)
  .map((command) => ({
    ...command,
    target: false,
    options: command.options.filter((option) => !connecting.includes(option)),
    examples: command.examples.filter((example) => /^anywire .* -- /.test(example)).map((example) => example.replace(/ -- .*$/, "")),
  }));
