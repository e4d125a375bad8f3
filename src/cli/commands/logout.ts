import { toFault } from "../../api/index.js";
import type { Input } from "../args/input.js";
import { cleanLine } from "../out/clean.js";
import { exitCodes } from "../table/exit-codes.js";

export async function run({ positionals }: Input): Promise<number> {
  const [url = ""] = positionals;
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) {
    process.stderr.write("anywire: logout takes the URL that was connected to: anywire logout https://example.com/mcp\n");
    return exitCodes.misuse;
  }
  try {
    const { forget } = await import("../../oauth/index.js");
    const had = await forget(url);
    process.stdout.write(`${cleanLine(had ? `forgot the tokens for ${url}` : `there are no tokens for ${url}`)}\n`);
    return exitCodes.ok;
  } catch (error) {
    process.stderr.write(`anywire: ${cleanLine(toFault(error).message)}\n`);
    return exitCodes.failed;
  }
}
