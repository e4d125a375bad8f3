import { Fault } from "../core/index.js";
import type { HttpAuth } from "../io/index.js";

/** A token that somebody else obtained; a function is asked for every request. A refusal of it is final. */
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

/** The variable that the command takes a token from. */
export const TOKEN_VARIABLE = "ANYWIRE_TOKEN";

/** The token of the environment, if there is one. */
export function bearerFrom(env: Readonly<Record<string, string | undefined>>): HttpAuth | undefined {
  const token = env[TOKEN_VARIABLE];
  return token === undefined || token === "" ? undefined : bearer(token);
}

/** The token itself is never part of the message. */
function check(token: string): string {
  if (!/^[\x21-\x7e]+$/.test(token))
    throw new Fault("invalid-params", "the token has a character that no token has: a space, a line break or one that is not ASCII");
  return token;
}
