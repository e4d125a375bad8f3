import { toFault } from "../../api/index.js";
import type { Input } from "../args/input.js";
import { cleanLine } from "../out/clean.js";
import { say } from "../out/say.js";
import { httpUrl } from "../session/http-url.js";
import { exitCodes } from "../table/exit-codes.js";

export async function runLogout({ positionals }: Input): Promise<number> {
  const [given = ""] = positionals;
  const url = httpUrl(given);
  if (url === undefined) {
    say("anywire: logout takes the URL that was connected to: anywire logout https://example.com/mcp");
    return exitCodes.misuse;
  }
  try {
    const { forget } = await import("../../oauth/index.js");
    const had = await forget(url);
    say(cleanLine(had ? `forgot the tokens for ${given}` : `there are no tokens for ${given}`), process.stdout);
    return exitCodes.ok;
  } catch (error) {
    say(`anywire: ${cleanLine(toFault(error).message)}`);
    return exitCodes.failed;
  }
}
