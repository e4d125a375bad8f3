import { readFile, stat } from "node:fs/promises";
import { basename } from "node:path";
import { toFault } from "../../api/index.js";
import { isObject } from "../../core/index.js";
import type { ToolSchemas } from "../../schema/index.js";
import type { Input } from "../args/input.js";
import { cleanLine } from "../out/clean.js";
import { say } from "../out/say.js";
import { screen } from "../out/screen.js";
import { styleFor } from "../out/style.js";
import { exitCodes } from "../table/exit-codes.js";
import { isMisuse, misuse } from "./mistake.js";
import { withClient } from "./session.js";

/** Tools as they arrive, and the name of the server. */
export interface ToolSource {
  readonly server: string;
  readonly tools: AsyncIterable<ToolSchemas>;
  /** Shows the progress. */
  meter(text: () => string): void;
}

/** The most bytes of a file with tools. */
const LARGEST = 256 * 1024 * 1024;

/** Works on the tools of a server or of a file. Returns the exit code. A fault is printed on one line. */
export function withTools(input: Input, file: string | undefined, work: (source: ToolSource) => Promise<number>): Promise<number> {
  if (file === undefined)
    return withClient(input, ({ client, signal, screen }) =>
      work({
        server: client.server.info?.name ?? "server",
        tools: client.tools({ signal }),
        meter: (text) => screen.meter(text),
      }),
    );
  return told(async () => {
    const { toolsOf } = await import("../../schema/index.js");
    const text = (await fileBytes(file)).toString("utf8");
    let parsed: unknown;
    try {
      parsed = JSON.parse(text);
    } catch {
      throw misuse(`${file}: is not JSON; it has to be the result of tools/list`);
    }
    const tools = toolsOf(parsed);
    const info = isObject(parsed) ? parsed["serverInfo"] : undefined;
    const server = isObject(info) && typeof info["name"] === "string" ? info["name"] : basename(file).replace(/\.json$/, "");
    const view = screen(process.stderr, { style: styleFor(process.stderr, process.env), meterLines: input.options.has("verbose") });
    const code = await work({ server, tools: each(tools), meter: (shown) => view.meter(shown) });
    view.clear();
    return code;
  });
}

/** Runs work without a server. A fault is printed on one line. */
export async function told(work: () => Promise<number>): Promise<number> {
  try {
    return await work();
  } catch (error) {
    const fault = toFault(error);
    say(`anywire: ${cleanLine(fault.message)}`);
    return isMisuse(fault) ? exitCodes.misuse : exitCodes.failed;
  }
}

export async function fileBytes(file: string): Promise<Buffer> {
  const found = await stat(file).catch(() => undefined);
  if (found === undefined) throw misuse(`${file}: there is no such file`);
  if (!found.isFile() || found.size > LARGEST) throw misuse(`${file}: ${found.isFile() ? "is too large" : "is no file"}`);
  return readFile(file);
}

async function* each<T>(values: readonly T[]): AsyncGenerator<T> {
  yield* values;
}
