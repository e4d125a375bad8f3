import { readFile, stat } from "node:fs/promises";
import { basename } from "node:path";
import { toFault } from "../../api/index.js";
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
        tools: client.tools({ signal, exactNumbers: true }),
        meter: (text) => screen.meter(text),
      }),
    );
  return told(async () => {
    const { parseTools } = await import("../../schema/index.js");
    const text = (await fileBytes(file)).toString("utf8");
    let parsed: ReturnType<typeof parseTools>;
    try {
      parsed = parseTools(text);
    } catch (error) {
      throw misuse(`${file}: ${toFault(error).message}`);
    }
    const { tools, server = basename(file).replace(/\.json$/, "") } = parsed;
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
