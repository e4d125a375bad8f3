import type { Command } from "../../api/index.js";
import type { Options, Target } from "../args/input.js";
import { misuse } from "./mistake.js";

/** What to dial: an address unchanged, or a command with the options for it. */
export function addressOf(target: Target, options: Options): string | Command {
  const cwd = options.text("cwd");
  const variables = options.texts("env");
  if (typeof target === "string") {
    if (cwd !== undefined || variables.length > 0) throw misuse("--cwd and --env are for a command that is started, not for a URL");
    return target;
  }
  // The secrets of this command are not passed on to the server.
  const secrets = ["token-env", "api-key-env", "client-secret-env"].map((name) => options.text(name));
  const env: Record<string, string> = {};
  const inherit: string[] = [];
  for (const variable of variables) {
    const equals = variable.indexOf("=");
    if (variable === "*") {
      inherit.push(...Object.keys(process.env).filter((name) => !secrets.includes(name)));
      continue;
    }
    if (equals > 0) env[variable.slice(0, equals)] = variable.slice(equals + 1);
    else if (equals < 0 && process.env[variable] !== undefined) inherit.push(variable);
    else throw misuse(`--env ${variable}: ${equals < 0 ? "no such variable is set" : "a name comes before ="}`);
  }
  return { ...target, env, inherit, ...(cwd === undefined ? undefined : { cwd }) };
}
