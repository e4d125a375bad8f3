import { platform } from "../stream/index.js";

/**
 * Warns whoever runs the program of something to fix, and goes on: with a process warning, or on the console where there is no process.
 */
export function warn(message: string, error: unknown): void {
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const { process } = platform;
  if (process?.emitWarning === undefined) console.warn(`${message}\n${detail}`);
  else process.emitWarning(message, { type: "AnywireWarning", detail });
}
