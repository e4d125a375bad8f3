import { stat } from "node:fs/promises";
import { messageSchema, type RegistryOptions, schemaCachePath, schemaStore, serveRegistry } from "../../schema/index.js";
import type { Input, Options } from "../args/input.js";
import { oneKey } from "../bridge/gate.js";
import { cleanLine } from "../out/clean.js";
import { say } from "../out/say.js";
import { misuse } from "../session/mistake.js";
import { dialTls, listenTls } from "../session/pem.js";
import { stops } from "../session/stops.js";
import { exitCodes } from "../table/exit-codes.js";

const ADDRESS = "http://127.0.0.1:8000";
const loopback = ["localhost", "127.0.0.1", "[::1]"];

/** Fetches the messages of a tool, and prints where they come from. */
export async function resolve({ options }: Input, reference: string | undefined): Promise<number> {
  if (reference === undefined) throw misuse("schema resolve needs a reference: buf.build/acme/tools/acme.tools.v1.SearchRequest:v1");
  const stop = stops();
  const store = schemaStore({
    registries: registriesOf(options),
    cache: options.has("no-cache") ? undefined : schemaCachePath(),
    offline: options.has("offline"),
    timeoutMs: options.number("timeout"),
    onWarning: (text) => say(`anywire: ${cleanLine(text)}`),
  });
  try {
    const since = performance.now();
    const { input, output, commit, pinned, sha256, from } = await store.resolve(reference, {
      input: options.text("message"),
      sha256: options.text("sha256"),
      signal: stop.signal,
    });
    const [names, ms] = [{ input: input.typeName, output: output?.typeName }, performance.now() - since];
    if (options.has("json"))
      say(JSON.stringify({ ...names, commit, pinned, sha256, from, inputSchema: messageSchema(input) }), process.stdout);
    else {
      say(`input   ${names.input}`, process.stdout);
      if (names.output !== undefined) say(`output  ${names.output}`, process.stdout);
      say(`pinned  ${pinned}`, process.stdout);
      say(`sha256  ${sha256}`, process.stdout);
      say(`from    the ${from === "disk" ? "cache" : from}, in ${ms.toFixed(1)} ms`, process.stdout);
    }
    return exitCodes.ok;
  } finally {
    store.close();
    stop.release();
  }
}

/** `host`, or `host=url` if it is elsewhere. */
function registriesOf(options: Options): Record<string, RegistryOptions> | undefined {
  const given = options.texts("registry");
  const common = { ca: dialTls(options)?.ca, ...(options.has("pin") ? { pins: options.texts("pin") } : undefined) };
  const registries: Record<string, RegistryOptions> = {};
  for (const each of given.length === 0 ? ["buf.build"] : given) {
    const at = each.indexOf("=");
    registries[at < 0 ? each : each.slice(0, at)] = at < 0 ? common : { ...common, url: each.slice(at + 1) };
  }
  return registries;
}

/** Serves a folder of descriptor sets until it is stopped. */
export async function serveFolder({ options }: Input, folder: string | undefined): Promise<number> {
  if (folder === undefined) throw misuse("schema serve needs a directory with owner/repository/label.binpb");
  if ((await stat(folder).catch(() => undefined))?.isDirectory() !== true) throw misuse(`${folder}: there is no such directory`);
  const stop = stops();
  try {
    const variable = options.text("api-key-env");
    const listener = await serveRegistry(folder, options.text("listen") ?? ADDRESS, {
      tls: listenTls(options),
      insecure: options.has("insecure"),
      auth: variable === undefined ? undefined : oneKey(variable),
      ...(options.has("allow-host") ? { allowedHosts: [...loopback, ...options.texts("allow-host")] } : undefined),
      onFault: (fault) => say(`anywire: ${cleanLine(fault.message)}`),
    });
    say(`anywire: the registry of ${folder} is at ${listener.address}; Ctrl-C ends it`);
    if (stop.signal.aborted) await listener.close();
    stop.signal.addEventListener("abort", () => void listener.close(), { once: true });
    await listener.closed;
    return stop.code ?? exitCodes.ok;
  } finally {
    stop.release();
  }
}
