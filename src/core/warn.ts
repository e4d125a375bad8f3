import { platform } from "../stream/index.js";

/** Tells whoever runs the program of something that it has to mend, and goes on: a warning of the process, or of the console where there is none. */
export function warn(message: string, error: unknown): void {
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const { process } = platform;
  if (process?.emitWarning === undefined) console.warn(`${message}\n${detail}`);
  else process.emitWarning(message, { type: "AnywireWarning", detail });
}
