import type { Input } from "../args/input.js";
import { completionScripts } from "../help/completion.js";

export function runCompletion(input: Input): Promise<number> {
  process.stdout.write(completionScripts[input.positionals[0] ?? ""]?.() ?? "");
  return Promise.resolve(0);
}
