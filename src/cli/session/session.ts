import { createInterface } from "node:readline";
import { type ConnectOptions, type Fault, type McpClient, toFault, wireFor } from "../../api/index.js";
import { defaultTimeouts, type JsonObject, redactText, toRpcError } from "../../core/index.js";
import type { Input, Options } from "../args/input.js";
import { askPerson, refusePerson } from "../ask/elicit.js";
import { askTerminal, type Terminal } from "../ask/terminal.js";
import { type Output, output } from "../out/output.js";
import { type Screen, screen } from "../out/screen.js";
import { type Style, styleFor } from "../out/style.js";
import { widthOf } from "../out/wrap.js";
import { exitCodes } from "../table/exit-codes.js";
import { addressOf } from "./command.js";
import { configured } from "./config.js";
import { explainFault } from "./explain.js";
import { handshakeTimes } from "./handshake-times.js";
import { headersOf } from "./headers.js";
import { isMisuse, misuse } from "./mistake.js";
import { dialTls } from "./pem.js";
import { rootsOf } from "./roots.js";
import { type ServerWords, serverWords } from "./server-words.js";
import { connectSigned } from "./sign-in.js";
import { type Stops, stops } from "./stops.js";
import { wireLog } from "./wire-log.js";

/** What a command works with. */
export interface CommandSession {
  readonly client: McpClient;
  readonly input: Input;
  /** The signal for every call. It aborts when the command is stopped. */
  readonly signal: AbortSignal;
  readonly out: Output;
  /** The style of stdout. */
  readonly style: Style;
  readonly tty: boolean;
  readonly width: number;
  readonly screen: Screen;
  /** Runs another command on the same connection, until its own signal aborts. Its faults are printed, and become its exit code. */
  readonly again: (input: Input, work: CommandWork, options: AgainOptions) => Promise<number>;
}

export type CommandWork = (session: CommandSession) => Promise<number>;

export interface WorkOptions {
  /** Checks the input. Problems are printed before anything is started. */
  readonly before?: (() => Promise<void>) | undefined;
  /** Where a person is asked, if not in the normal terminal mode. */
  readonly person?: ((screen: Screen) => Terminal) | undefined;
}

export interface AgainOptions extends WorkOptions {
  readonly signal: AbortSignal;
}

/** Gives a command its connection. */
export type WithClient = (input: Input, work: CommandWork, options?: WorkOptions) => Promise<number>;

/** Milliseconds after which a person at a terminal is told what the command waits for. */
const WAITING_MS = 1_000;

/** Connects, works, and cleans up. Returns the exit code. Any fault is printed on one line. */
export async function withClient(given: Input, work: CommandWork, { before, person: asking }: WorkOptions = {}): Promise<number> {
  let input = given;
  const verbose = given.options.times("verbose");
  const stop = stops();
  const view = screen(process.stderr, { style: styleFor(process.stderr, process.env), meterLines: verbose > 0 });
  const words = serverWords(view, verbose > 0);
  const onGone = (code: string | undefined): void => {
    if (code !== "EPIPE") view.line(`anywire: the output cannot be written (${code})`);
    stop.stop(code === "EPIPE" ? exitCodes.ok : exitCodes.failed, "the output cannot be written");
  };
  const tty = process.stdout.isTTY === true;
  const out = output(process.stdout, { signal: stop.signal, tty, onGone });
  const atTerminal = (): Terminal => askTerminal(() => createInterface({ input: process.stdin, terminal: false }), view);
  const person = process.stdin.isTTY && process.stderr.isTTY ? (asking?.(view) ?? atTerminal()) : undefined;
  let connected = false;
  try {
    input = await configured(given);
    const { options, target } = input;
    const address = addressOf(target ?? "", options);
    const headers = headersOf(target ?? "", options);
    await known(address);
    await before?.();
    const settings = await connectOptions(options, { view, words, person, verbose });
    const waiting = setTimeout(() => view.meter(() => "waiting for the server to answer"), WAITING_MS);
    const client = await connectSigned(
      address,
      { ...settings, headers, signal: stop.signal },
      {
        print: (line) => {
          clearTimeout(waiting);
          view.line(line);
        },
        // The time in which a person acts does not count. Without a person, nobody wants to wait for one.
        patienceMs: (person === undefined ? settings.timeout : undefined) ?? defaultTimeouts.patienceMs,
      },
    ).finally(() => clearTimeout(waiting));
    view.clear();
    connected = true;
    const style = styleFor(process.stdout, process.env);
    const shared = { client, out, style, tty, screen: view };
    const again: CommandSession["again"] = async (line, task, { before: first, signal }) => {
      try {
        await first?.();
        return await task({ ...shared, input: line, signal, width: widthOf(process.stdout, 80), again });
      } catch (error) {
        return await failed(toFault(error), { stop, signal, view, words, input: { ...line, target: input.target }, connected, out });
      } finally {
        view.clear();
      }
    };
    if (verbose > 0) view.line(view.style.dim(`wire  connected: ${client.server.version}, ${client.server.era} era`));
    let code: number;
    try {
      code = await work({ ...shared, input, signal: stop.signal, width: widthOf(process.stdout, 80), again });
    } finally {
      view.clear();
      await client.close();
    }
    // Writing the last output may have failed.
    return stop.code || code;
  } catch (error) {
    return await failed(toFault(error), { stop, signal: stop.signal, view, words, input, connected, out });
  } finally {
    person?.close();
    out.release();
    stop.release();
  }
}

interface ConnectContext {
  readonly view: Screen;
  readonly words: ServerWords;
  readonly person: Terminal | undefined;
  readonly verbose: number;
}

async function connectOptions(options: Options, context: ConnectContext): Promise<ConnectOptions> {
  const { view, words, person, verbose } = context;
  const timeout = options.number("timeout");
  const roots = options.has("root") ? await rootsOf(options.texts("root")) : undefined;
  const log = wireLog({ line: (text) => view.line(view.style.dim(`wire  ${text}`)), bodies: verbose > 1 });
  return {
    era: options.oneOf("era", ["auto", "legacy", "modern"]),
    dialect: options.oneOf("dialect", ["auto", "mcp.v1", "tunnel"]),
    calls: options.oneOf("calls", ["session", "rpc"]),
    http2: options.oneOf("http2", ["own", "node"]),
    tls: dialTls(options),
    elicit: person === undefined ? refusePerson(view) : askPerson(person),
    elicitUrl: true,
    roots,
    timeout,
    ...handshakeTimes(timeout),
    onStderr: words.onStderr,
    onFault: words.onFault,
    observe: verbose > 0 ? log : undefined,
  };
}

/** An address that no wire accepts is a mistake on the command line. What happens on a wire is not. */
async function known(address: Parameters<typeof wireFor>[0]): Promise<void> {
  try {
    await wireFor(address);
  } catch (error) {
    throw misuse(`${toFault(error).message}; a command to start goes after --`);
  }
  if (typeof address === "string" && /^((grpc|http|proto)\+)?stdio:/.test(address))
    throw misuse(`${address} is for listening; to talk to a server on its stdin and stdout give -- and its command`);
}

async function failed(
  fault: Fault,
  context: {
    readonly stop: Stops;
    readonly signal: AbortSignal;
    readonly view: Screen;
    readonly words: ServerWords;
    readonly input: Input;
    readonly connected: boolean;
    readonly out: Output;
  },
): Promise<number> {
  const { stop, signal, view, words, input, connected, out } = context;
  if (stop.code !== undefined) return stop.code;
  if (signal.aborted) {
    view.line("anywire: cancelled");
    return exitCodes.interrupted;
  }
  if (fault.code === "unavailable") await words.settled();
  const { code, message: told, words: helpful } = explainFault(fault, { target: input.target ?? "", connected, words });
  // The URL may contain credentials.
  const message = redactText(told);
  if (helpful) words.show(message);
  view.line(`anywire: ${message}`);
  if (input.options.has("json") && !isMisuse(fault)) await out.write(`${JSON.stringify({ error: faultJson(fault, message) })}\n`);
  return code;
}

/** A fault for programs. A server's answer keeps its own code and data. */
function faultJson(fault: Fault, message: string): JsonObject {
  const { code, data } = toRpcError(fault, "modern");
  return { code, reason: fault.code, message, ...(data === undefined ? undefined : { data }) };
}
