import { Console } from "node:console";

/**
 * Sends `console` output to stderr, where it cannot garble the messages on stdout. The returned function undoes it. The methods of the one
 * console object are replaced, so that modules that hold a reference are covered too.
 */
export function divertConsole(): () => void {
  const target = console as unknown as Record<string, unknown>;
  const diverted = new Console({ stdout: process.stderr, stderr: process.stderr }) as unknown as Record<string, unknown>;
  const before = new Map<string, unknown>();
  for (const name of Object.keys(diverted)) {
    if (typeof diverted[name] !== "function" || typeof target[name] !== "function") continue;
    before.set(name, target[name]);
    target[name] = diverted[name];
  }
  return () => {
    for (const [name, method] of before) {
      // If someone has replaced the method since, it stays.
      if (target[name] === diverted[name]) target[name] = method;
    }
    before.clear();
  };
}
