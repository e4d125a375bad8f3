import type { Input } from "./args/input.js";
import type { WithClient } from "./session/session.js";
import type { CommandName } from "./table/types.js";

/** Runs a command and returns its exit code. Within a shell it uses the existing connection. */
export type RunCommand = (input: Input, using?: WithClient) => Promise<number>;

/** Each command is loaded only when it is used. */
export const load: Record<CommandName, () => Promise<RunCommand>> = {
  tools: async () => (await import("./commands/tools.js")).runTools,
  shell: async () => (await import("./commands/shell.js")).runShell,
  call: async () => (await import("./commands/call.js")).runCall,
  resources: async () => (await import("./commands/resources.js")).runResources,
  read: async () => (await import("./commands/read.js")).runRead,
  prompts: async () => (await import("./commands/prompts.js")).runPrompts,
  prompt: async () => (await import("./commands/prompt.js")).runPrompt,
  complete: async () => (await import("./commands/complete.js")).runComplete,
  watch: async () => (await import("./commands/watch.js")).runWatch,
  ping: async () => (await import("./commands/ping.js")).runPing,
  discover: async () => (await import("./commands/discover.js")).runDiscover,
  logout: async () => (await import("./commands/logout.js")).runLogout,
  bridge: async () => (await import("./commands/bridge.js")).runBridge,
  demo: async () => (await import("./commands/demo.js")).runDemo,
  completion: async () => (await import("./commands/completion.js")).runCompletion,
  schema: async () => (await import("./commands/schema.js")).runSchema,
  tokens: async () => (await import("./commands/tokens.js")).runTokens,
};
