import type { CallToolResult, JsonObject, LogEntry, Progress, ToolEvent } from "../../api/index.js";
import { logLevels } from "../../core/index.js";
import type { Input } from "../args/input.js";
import { bytesText, progressText } from "../out/amount.js";
import { cleanLine } from "../out/clean.js";
import { contentText } from "../out/contents.js";
import { blobOf, type SaveTo, saveBlobs, saveTo } from "../out/save.js";
import { find } from "../session/find.js";
import { type CommandSession, type WithClient, withClient } from "../session/session.js";
import { exitCodes } from "../table/exit-codes.js";
import { checkRequired, givenArguments, typedArguments } from "../values/arguments.js";

export function runCall(input: Input, using: WithClient = withClient): Promise<number> {
  let given: JsonObject | undefined;
  let files: SaveTo | undefined;
  const before = async (): Promise<void> => {
    const option = input.options.text("args");
    const path = input.options.text("output");
    if (path !== undefined) files = await saveTo(path);
    if (option !== undefined) given = await givenArguments(option);
  };
  const work = async (session: CommandSession): Promise<number> => {
    const { client, signal, out } = session;
    const { options } = input;
    const [name = ""] = input.positionals;
    const events = options.has("events");
    const json = events || options.has("json");
    const args = await argumentsOf(session, given);
    const level = options.oneOf("log-level", logLevels) ?? (json && !events ? undefined : "info");
    const call = client.streamTool(name, args, { signal, ...(level === undefined ? undefined : { logLevel: level }) });
    for await (const event of call) {
      if (event.kind === "result") {
        session.screen.clear();
        const rest = files === undefined ? event.result : await saved(session, event.result, files);
        await writeResult(session, json ? event.result : rest, json);
        return event.result.isError === true ? exitCodes.toolError : exitCodes.ok;
      }
      if (events) await out.write(`${JSON.stringify(eventLine(event))}\n`);
      else if (!json || event.kind === "progress") show(session, event);
    }
    return exitCodes.failed;
  };
  return using(input, work, { before });
}

async function argumentsOf({ client, input, signal }: CommandSession, given: JsonObject | undefined): Promise<JsonObject> {
  const [name = "", ...words] = input.positionals;
  const tool = await find(client.tools({ signal, exactNumbers: true }), (each) => each.name, name, "tool");
  const schema = tool?.inputSchema ?? {};
  const args = { ...given, ...typedArguments(words, schema) };
  // Arguments given as JSON are sent unchanged, so that the server checks them.
  if (given === undefined) checkRequired(args, schema);
  return args;
}

function eventLine(event: Exclude<ToolEvent, { kind: "result" }>): JsonObject {
  switch (event.kind) {
    case "progress":
      return { progress: event.progress };
    case "log":
      return { log: event.entry };
    case "note":
      return { note: event.note };
  }
}

function show({ screen }: CommandSession, event: Exclude<ToolEvent, { kind: "result" }>): void {
  if (event.kind === "progress") screen.meter(() => meterText(event.progress));
  else if (event.kind === "log") screen.line(logText(event.entry));
}

function meterText({ progress, total, message }: Progress): string {
  const about = message === undefined ? `${progress}${total === undefined ? "" : ` of ${total}`}` : cleanLine(String(message));
  return progressText(Number(progress), typeof total === "number" ? total : undefined, about);
}

function logText({ level, logger, data }: LogEntry): string {
  const text = typeof data === "string" ? data : JSON.stringify(data);
  return cleanLine(`${level}${logger === undefined ? "" : ` ${logger}`}: ${text}`);
}

/** Saves the binary contents, prints where, and returns the rest. */
async function saved({ screen, input }: CommandSession, result: CallToolResult, files: SaveTo): Promise<CallToolResult> {
  const all = await saveBlobs(result.content, files, input.positionals[0] ?? "");
  for (const { path, mimeType, size } of all) screen.line(`anywire: saved ${path} (${cleanLine(mimeType)}, ${bytesText(size)})`);
  if (all.length === 0) screen.line("anywire: nothing was saved: the result has no image, no audio and no blob");
  return { ...result, content: result.content.filter((block) => blobOf(block) === undefined) };
}

async function writeResult({ out, style, screen, tty }: CommandSession, result: CallToolResult, json: boolean): Promise<void> {
  if (json) return out.write(`${JSON.stringify(result)}\n`);
  if (result.isError === true) {
    for (const block of result.content) screen.line(contentText(block, screen.style));
    return screen.line("anywire: the tool reported an error");
  }
  if (isCopy(result)) return out.write(`${JSON.stringify(result.structuredContent, undefined, 2)}\n`);
  for (const block of result.content) await out.write(`${contentText(block, style)}\n`);
  if (tty && result.content.some((block) => blobOf(block) !== undefined)) screen.line(screen.style.dim("-o FILE or -o DIR saves it"));
  if (result.content.length === 0 && result.structuredContent !== undefined)
    await out.write(`${JSON.stringify(result.structuredContent, undefined, 2)}\n`);
}

/** Whether the content only repeats the structured content, which is easier to read formatted. */
function isCopy({ content, structuredContent }: CallToolResult): boolean {
  const [only, ...others] = content;
  if (structuredContent === undefined || others.length > 0 || only?.type !== "text") return false;
  try {
    return JSON.stringify(JSON.parse(only.text)) === JSON.stringify(structuredContent);
  } catch {
    return false;
  }
}
