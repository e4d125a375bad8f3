import { type Fault, type ListenAddress, toFault } from "../../api/index.js";
import { type Bridge, isKeyName, newKey } from "../../bridge/index.js";
import { isObject } from "../../core/index.js";
import type { Input } from "../args/input.js";
import { announcement } from "../bridge/announce.js";
import { publicUrlOf } from "../bridge/gate.js";
import { isStdio, listening } from "../bridge/listen.js";
import { type BridgeLog, bridgeLog } from "../bridge/log.js";
import { type BridgeHooks, startBridge } from "../bridge/run.js";
import { serverName } from "../bridge/snippet.js";
import { upstreamTarget } from "../bridge/upstream.js";
import { say } from "../out/say.js";
import { screen } from "../out/screen.js";
import { styleFor } from "../out/style.js";
import { configured } from "../session/config.js";
import { explainFault } from "../session/explain.js";
import { inOptions } from "../session/listen-fault.js";
import { misuse } from "../session/mistake.js";
import { type ServerWords, serverWords } from "../session/server-words.js";
import { stops } from "../session/stops.js";
import { exitCodes } from "../table/exit-codes.js";

/** Milliseconds after which a person wonders why a bridge that was stopped still runs. */
const DRAINING_MS = 500;

export async function runBridge(given: Input): Promise<number> {
  let input = given;
  const { options } = given;
  const view = screen(process.stderr, { style: styleFor(process.stderr, process.env), meterLines: false });
  const log = bridgeLog({
    form: options.oneOf("log", ["text", "json", "none"]) ?? "text",
    verbose: options.times("verbose"),
    view,
    backlog: () => process.stderr.writableLength,
  });
  const words = serverWords(view, false);
  const stop = stops();
  try {
    if (options.has("hash-key")) return hashKey(options.text("hash-key") ?? "");
    input = await configured(given);
    const onStderr = (line: string): void => {
      words.keep(line);
      log.server(line);
    };
    // Somebody who waits for the server should see at once that its stdout is something else. A server at a URL has none.
    const onFault = (fault: Fault): void => {
      const known = words.garbage;
      words.onFault(fault);
      if (known === undefined && words.garbage !== undefined && typeof upstreamTarget(input) !== "string")
        log.notice(`the server printed on stdout what is not an MCP message (${words.garbage}); its log belongs on stderr`);
    };
    const print = (line: string): void => view.line(line);
    const hooks = { log, onStderr, onFault, print, stopping: stop.signal };
    // What was started ends with this process.
    const { bridge, note } = await Promise.race([startListening(input, hooks), interrupted(stop.signal)]);
    if (note !== undefined) log.notice(note);
    const addresses = bridge.listeners.flatMap((listener) => listener.addresses ?? [{ wire: "", address: listener.address }]);
    // Then a client reads it, and only messages are written there.
    const stdoutTaken = addresses.some(({ address }) => isStdio(address));
    announce(addresses, { input, log, stdoutTaken });
    const close = (): void => {
      const waits = setTimeout(
        () => log.notice("waiting for open calls and the server to end; a second Ctrl-C or signal exits at once"),
        DRAINING_MS,
      );
      void bridge.close().finally(() => clearTimeout(waits));
    };
    if (stop.signal.aborted) close();
    stop.signal.addEventListener("abort", close, { once: true });
    if (options.has("demo") && !stdoutTaken) await showTour(addresses, stop.signal, log);
    const reason = await bridge.closed;
    if (stop.code !== undefined) return stop.code === exitCodes.terminated ? exitCodes.ok : stop.code;
    return reason === undefined ? exitCodes.ok : await failed(reason, { log, words, input });
  } catch (error) {
    return stop.code ?? (await failed(toFault(error), { log, words, input }));
  } finally {
    stop.release();
  }
}

/** Starts the bridge where it shall listen. While the server starts, another program may take the port that was free: then on the next. */
async function startListening(input: Input, hooks: BridgeHooks): Promise<{ readonly bridge: Bridge; readonly note: string | undefined }> {
  for (let tries = 1; ; tries++) {
    const { addresses, note } = await listening(input.options);
    try {
      return { bridge: await startBridge(input, addresses, hooks), note };
    } catch (error) {
      const { data } = toFault(error);
      if (input.options.has("listen") || tries === 5 || !isObject(data) || data["reason"] !== "address-in-use") throw error;
    }
  }
}

/** Shows the tour. If that fails, for example because clients need a key, the bridge keeps running. */
async function showTour(addresses: readonly ListenAddress[], signal: AbortSignal, log: BridgeLog): Promise<void> {
  const { wireTour } = await import("../../demo/index.js");
  const print = (line: string): void => say(line, process.stdout);
  print("\nA short tour, one server on four wires:");
  await wireTour(addresses, { print, signal }).catch((error) => {
    if (!signal.aborted) log.notice(`the tour ends here: ${toFault(error).message}`);
  });
  if (!signal.aborted) print("\nIt listens until Ctrl-C. To put another server there: anywire bridge -- <command>");
}

interface Announced {
  readonly input: Input;
  readonly log: BridgeLog;
  readonly stdoutTaken: boolean;
}

/** Says where the bridge is: on stdout, or in the log if a client reads stdout. */
function announce(addresses: readonly ListenAddress[], { input, log, stdoutTaken }: Announced): void {
  const { options } = input;
  const lines = announcement({
    name: options.has("demo") ? "demo" : (options.text("server") ?? serverName(upstreamTarget(input))),
    addresses,
    publicUrl: publicUrlOf(options),
    hosts: options.texts("allow-host"),
    client: options.text("snippet"),
    keyed: options.has("api-keys") || options.has("api-key-env"),
  });
  if (!stdoutTaken) say(lines.join("\n"), process.stdout);
  else if (addresses.length > 1) for (const line of lines) log.notice(line);
}

function interrupted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

async function failed(
  fault: Fault,
  { log, words, input }: { readonly log: BridgeLog; readonly words: ServerWords; readonly input: Input },
): Promise<number> {
  if (fault.code === "unavailable") await words.settled();
  const target = input.options.text("to") ?? input.target ?? "";
  const { code, message } = explainFault(inOptions(fault, "--api-keys, --tls-ca or --trusted-user"), { target, connected: false, words });
  log.ends(message);
  return code;
}

/** Prints the key for the user, and the line with its hash for the file. */
function hashKey(name: string): number {
  if (!isKeyName(name)) throw misuse(`--hash-key takes a name without spaces or colons, not ${JSON.stringify(name)}`);
  const { key, line } = newKey(name);
  say(`The key of ${name}, shown only now: ${key}`);
  say(line, process.stdout);
  return exitCodes.ok;
}
