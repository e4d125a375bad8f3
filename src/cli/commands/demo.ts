import { Fault, serve, toFault, wireFor } from "../../api/index.js";
import { isObject } from "../../core/index.js";
import { demoServer, tour } from "../../demo/index.js";
import type { Input } from "../args/input.js";
import { say } from "../out/say.js";
import { isMistake } from "../session/mistake.js";
import { listenTls } from "../session/pem.js";
import { type Stops, stops } from "../session/stops.js";
import { exitCodes } from "../table/exit-codes.js";

const MANY = 100_000;

export async function run({ options }: Input): Promise<number> {
  const stop = stops();
  try {
    if (options.has("tour")) return await showTour(stop);
    const address = options.text("listen") ?? "stdio:";
    const problem = await refused(address);
    if (problem !== undefined) {
      say(`anywire: ${problem}`);
      return exitCodes.misuse;
    }
    const manyTools = options.has("many-tools") ? (options.number("many-tools") ?? MANY) : undefined;
    const onFault = (fault: Error): void => {
      if (options.has("verbose")) say(`anywire: ${fault.message}`);
    };
    const listener = await serve(demoServer({ manyTools }), address, {
      onFault,
      tls: listenTls(options),
      insecure: options.has("insecure"),
    });
    if (!address.endsWith("stdio:")) say(`anywire: the demo listens on ${listener.address}; Ctrl-C ends it`);
    else if (process.stdin.isTTY) say("anywire: the demo speaks MCP on stdin and stdout; Ctrl-D ends it. For a look: anywire demo --tour");
    if (stop.signal.aborted) await listener.close();
    stop.signal.addEventListener("abort", () => void listener.close(), { once: true });
    await listener.closed;
    return stop.code ?? exitCodes.ok;
  } catch (error) {
    if (stop.code !== undefined) return stop.code;
    const fault = toFault(error);
    say(`anywire: ${inOptions(fault)}`);
    return isMistake(fault) || fault.code === "invalid-params" ? exitCodes.misuse : exitCodes.unreachable;
  } finally {
    stop.release();
  }
}

const wanted: Readonly<Record<string, string>> = {
  "no-certificate": "give --tls-cert and --tls-key",
  insecure: "give --tls-cert and --tls-key, or --insecure if a proxy in front does it",
  anonymous: "give --tls-ca, or --insecure if that is meant",
};

/** What is wrong; what the library asks for is put in the options of this command. */
function inOptions({ message, data }: Fault): string {
  const ask = isObject(data) ? wanted[String(data["reason"])] : undefined;
  return ask === undefined ? message : message.replace(/give .*$/, ask);
}

/** Why nothing can be served at an address, in one line. */
async function refused(address: string): Promise<string | undefined> {
  if (address.startsWith("memory:")) return "--listen memory: reaches nobody outside this process; leave it out for stdin and stdout";
  try {
    await wireFor(address);
    return undefined;
  } catch (error) {
    return `--listen: ${toFault(error).message}`;
  }
}

async function showTour({ signal, stop }: Stops): Promise<number> {
  const script = process.argv[1];
  if (script === undefined) throw new Fault("internal", "cannot find the command to start");
  process.stdout.once("error", () => stop(exitCodes.ok, "nobody reads the output any more"));
  await tour({ command: process.execPath, args: [script, "demo"] }, { print: (line) => say(line, process.stdout), signal });
  return exitCodes.ok;
}
