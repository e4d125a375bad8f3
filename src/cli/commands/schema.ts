import { readFile, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { toFault } from "../../api/index.js";
import {
  type Catalogue,
  catalogueWriter,
  compareLocks,
  LOCK_FILE,
  type Lock,
  messageSchema,
  moduleFiles,
  packageOf,
  parseLock,
  readDescriptorSet,
  SERVICE_FILE,
  serviceSet,
  writeFiles,
} from "../../schema/index.js";
import { codeOf } from "../../stream/index.js";
import type { Input } from "../args/input.js";
import { cleanLine } from "../out/clean.js";
import { say } from "../out/say.js";
import { misuse } from "../session/mistake.js";
import { fileBytes, type ToolSource, told, withTools } from "../session/tool-source.js";
import { exitCodes } from "../table/exit-codes.js";

export function runSchema(input: Input): Promise<number> {
  const [action, file] = input.positionals;
  if (action === "to-json") return told(() => toJson(input, file));
  if (action === "service") return told(() => service(file));
  if (action === "resolve") return told(async () => (await import("./schema-registry.js")).resolve(input, file));
  if (action === "serve") return told(async () => (await import("./schema-registry.js")).serveFolder(input, file));
  const folder = input.options.text("output");
  if (folder === undefined) return told(() => Promise.reject(misuse(`schema ${action} needs -o <dir>`)));
  return withTools(input, file, (source) => (action === "check" ? check(input, source, folder) : toProto(input, source, folder)));
}

async function service(file: string | undefined): Promise<number> {
  if (file === undefined) throw misuse("schema service needs a file to write the descriptors to");
  await writeFiles(dirname(file), [[basename(file), serviceSet()]]);
  say(`mcp.v1.McpService written to ${file}; the name in it for protoc is ${SERVICE_FILE}`, process.stdout);
  return exitCodes.ok;
}

async function toProto(input: Input, source: ToolSource, folder: string): Promise<number> {
  const since = performance.now();
  const { catalogue, failures } = await convert(input, source, await lockOf(folder));
  let written = 0;
  await writeFiles(folder, moduleFiles(catalogue), () => source.meter(() => `${++written} files written`));
  await removeFormer(catalogue, folder);
  const residual = catalogue.tools.filter(({ input: one, output }) => one.residual.length > 0 || (output?.residual.length ?? 0) > 0);
  if (input.options.has("json"))
    say(
      JSON.stringify({
        tools: catalogue.tools.length,
        failed: failures,
        package: catalogue.package,
        residual: residual.map(({ name, input: one, output }) => ({ name, input: one.residual, output: output?.residual ?? [] })),
      }),
      process.stdout,
    );
  else {
    const leftOver = residual.length === 0 ? "" : `, ${residual.length} of them with keywords that only the JSON Schema says`;
    say(
      `${catalogue.tools.length} tools written to ${folder} in ${((performance.now() - since) / 1000).toFixed(1)} s${leftOver}; buf build ${folder}`,
      process.stdout,
    );
  }
  return failures.length === 0 ? exitCodes.ok : exitCodes.failed;
}

async function check(input: Input, source: ToolSource, folder: string): Promise<number> {
  const lock = await lockOf(folder);
  if (lock === undefined) throw misuse(`${join(folder, LOCK_FILE)}: there is no such file; anywire schema to-proto writes it`);
  const { catalogue, failures } = await convert(input, source, lock);
  const changes = compareLocks(lock, catalogue.lock);
  const breaking = changes.filter((change) => change.breaking);
  for (const change of changes)
    if (input.options.has("json")) say(JSON.stringify(change), process.stdout);
    else say(cleanLine(`${change.breaking ? "breaking" : "compatible"}: ${change.tool}: ${change.message}`), process.stdout);
  if (!input.options.has("json"))
    say(changes.length === 0 ? "nothing has changed" : `${breaking.length} of ${changes.length} changes break clients`, process.stdout);
  return breaking.length + failures.length === 0 ? exitCodes.ok : exitCodes.failed;
}

/** Converts all tools that can be converted. Problems with the others are printed. */
async function convert(input: Input, source: ToolSource, lock: Lock | undefined): Promise<{ catalogue: Catalogue; failures: string[] }> {
  const name = input.options.text("package") ?? lock?.package ?? packageOf(source.server);
  const writer = catalogueWriter({ package: name, lock, formats: !input.options.has("no-formats") });
  const failures: string[] = [];
  let count = 0;
  for await (const tool of source.tools) {
    try {
      writer.add(tool);
    } catch (error) {
      failures.push(tool.name);
      say(`anywire: ${cleanLine(toFault(error).message)}`);
    }
    count++;
    source.meter(() => `${count} tools converted`);
  }
  return { catalogue: writer.finish(), failures };
}

async function lockOf(folder: string): Promise<Lock | undefined> {
  const path = join(folder, LOCK_FILE);
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw misuse(`${path} cannot be read (${codeOf(error)})`);
  }
  return parseLock(text);
}

/** Deletes the files of removed tools. */
async function removeFormer({ lock, package: name }: Catalogue, folder: string): Promise<void> {
  for (const { file, former } of Object.values(lock.tools))
    if (former === true) await unlink(join(folder, name.replaceAll(".", "/"), `${file}.proto`)).catch(() => {});
}

async function toJson(input: Input, file: string | undefined): Promise<number> {
  if (file === undefined) throw misuse("schema to-json needs a file: a descriptor set, such as buf build -o set.binpb makes");
  const set = readDescriptorSet(await fileBytes(file));
  const depth = input.options.number("depth");
  const options = depth === undefined ? {} : { depth };
  const wanted = input.options.text("message");
  if (wanted !== undefined) {
    const message = set.get(wanted);
    if (message === undefined) throw misuse(`${file}: has no message ${wanted}`);
    for (const line of JSON.stringify(messageSchema(message, options), undefined, 2).split("\n")) say(line, process.stdout);
    return exitCodes.ok;
  }
  for (const message of set)
    if (message.parent === undefined)
      say(JSON.stringify({ message: message.typeName, schema: messageSchema(message, options) }), process.stdout);
  return exitCodes.ok;
}
