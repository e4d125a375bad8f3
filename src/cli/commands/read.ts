import { type ResourceChunk, toFault } from "../../api/index.js";
import type { Input } from "../args/input.js";
import { bytesText, progressText } from "../out/amount.js";
import { absent, misuse } from "../session/mistake.js";
import { nearestResource } from "../session/nearest-resource.js";
import { type PartFile, partFile } from "../session/part-file.js";
import { type CommandSession, type WithClient, withClient } from "../session/session.js";

export function runRead(input: Input, using: WithClient = withClient): Promise<number> {
  return using(input, async (session) => {
    const [uri = ""] = input.positionals;
    const { options } = input;
    const path = options.text("output");
    const start = options.number("offset") ?? 0;
    if (path !== undefined && options.has("json")) throw misuse("--json is for stdout: leave out -o or --json");
    try {
      if (path === undefined || path === "-") await toStdout(session, uri, start);
      else await toFile(session, uri, { path, start });
      return 0;
    } catch (error) {
      const { code } = toFault(error);
      if (code !== "not-found" && code !== "invalid-params") throw error;
      const near = await nearestResource(session, uri);
      throw near === undefined ? error : absent(`the server has no resource ${uri}; did you mean ${near}?`);
    }
  });
}

async function toStdout(session: CommandSession, uri: string, start: number): Promise<void> {
  const { client, signal, out, tty, input } = session;
  const json = input.options.has("json");
  const meter = metered(session, start);
  for await (const chunk of client.readChunks(uri, { offset: start, signal })) {
    const { data } = chunk;
    if (json) await out.write(`${JSON.stringify(line(chunk))}\n`);
    else if (input.options.has("force")) await out.write(typeof data === "string" ? Buffer.from(data) : data);
    else if (!tty || typeof data === "string") await out.write(data);
    else throw misuse("this resource is binary: save it with -o <file>, or print it anyway with --force");
    // On a terminal the data itself shows the progress.
    if (!tty) meter(chunk);
  }
}

async function toFile(session: CommandSession, uri: string, to: { readonly path: string; readonly start: number }): Promise<void> {
  const { client, signal, screen } = session;
  const file: PartFile = await partFile(to.path);
  let at = to.start + file.size;
  if (file.size > 0) screen.line(`anywire: going on at ${at}; to start over, delete ${file.name}`);
  try {
    const meter = metered(session, at);
    let first = true;
    for await (const chunk of client.readChunks(uri, { offset: at, signal })) {
      if (first) file.accept(chunk, at);
      first = false;
      await file.write(chunk.data);
      at += octets(chunk.data);
      meter(chunk);
    }
    await file.finish();
    screen.clear();
    screen.line(`${bytesText(file.size)} in ${to.path}`);
  } catch (error) {
    await file.close();
    if (file.name !== to.path && file.size > 0)
      screen.line(`anywire: ${file.name} has the first ${bytesText(file.size)}; the same command goes on from there`);
    throw error;
  }
}

function line({ uri, mimeType, offset, size, data }: ResourceChunk): Record<string, unknown> {
  const content =
    typeof data === "string" ? { text: data } : { blob: Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("base64") };
  return { uri, ...(mimeType === undefined ? {} : { mimeType }), offset, ...(size === undefined ? {} : { size }), ...content };
}

function octets(data: string | Uint8Array): number {
  return typeof data === "string" ? Buffer.byteLength(data) : data.byteLength;
}

/** Shows on stderr how far a read has come, and how fast it is. */
function metered({ screen }: CommandSession, start: number): (chunk: ResourceChunk) => void {
  const began = performance.now();
  let read = 0;
  return ({ data, size, offset }) => {
    read += octets(data);
    screen.meter(() => {
      const at = offset + octets(data);
      const rate = `${bytesText(Math.round((read * 1000) / Math.max(performance.now() - began, 1)))}/s`;
      return progressText(
        at,
        size,
        `${bytesText(at)}${size === undefined ? "" : ` of ${bytesText(size)}`}, ${rate}${start > 0 ? `, from ${bytesText(start)}` : ""}`,
      );
    });
  };
}
