import { Fault } from "../core/index.js";
import type { HttpAuth } from "../io/index.js";

/** A token that was obtained elsewhere. A function is called for every request. A refused token is not retried. */
export function bearer(token: string | (() => string | Promise<string>)): HttpAuth {
  const read = typeof token === "string" ? () => token : token;
  if (typeof token === "string") check(token);
  return {
    async headers() {
      return { authorization: `Bearer ${check(await read())}` };
    },
    challenged: async () => false,
  };
}

/** The environment variable from which the command takes a token. */
export const TOKEN_VARIABLE = "ANYWIRE_TOKEN";

/** The token in the environment, if there is one. */
export function bearerFrom(env: Readonly<Record<string, string | undefined>>): HttpAuth | undefined {
  const token = env[TOKEN_VARIABLE];
  return token === undefined || token === "" ? undefined : bearer(token);
}

/** The message never contains the token itself. */
function check(token: string): string {
  if (!/^[\x21-\x7e]+$/.test(token))
    throw new Fault("invalid-params", "the token has a character that no token has: a space, a line break or one that is not ASCII");
  return token;
}
