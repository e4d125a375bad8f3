import type { Input } from "./args/input.js";
import type { CommandName } from "./table/types.js";

/** A command as a module: `run` gives its exit code. */
export interface CommandModule {
  readonly run: (input: Input) => Promise<number>;
}

/** Each command loads what it needs, and no sooner. */
export const load: Record<CommandName, () => Promise<CommandModule>> = {
  tools: () => import("./commands/tools.js"),
  call: () => import("./commands/call.js"),
  resources: () => import("./commands/resources.js"),
  read: () => import("./commands/read.js"),
  prompts: () => import("./commands/prompts.js"),
  prompt: () => import("./commands/prompt.js"),
  complete: () => import("./commands/complete.js"),
  watch: () => import("./commands/watch.js"),
  ping: () => import("./commands/ping.js"),
  discover: () => import("./commands/discover.js"),
  logout: () => import("./commands/logout.js"),
  bridge: () => import("./commands/bridge.js"),
  demo: () => import("./commands/demo.js"),
  completion: () => import("./commands/completion.js"),
  schema: () => import("./commands/schema.js"),
  tokens: () => import("./commands/tokens.js"),
};
