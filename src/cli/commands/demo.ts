import { Fault, serve, toFault, wireFor } from "../../api/index.js";
import { demoServer, tour } from "../../demo/index.js";
import type { Input } from "../args/input.js";
import { say } from "../out/say.js";
import { inOptions } from "../session/listen-fault.js";
import { isMistake } from "../session/mistake.js";
import { listenTls } from "../session/pem.js";
import { type Stops, stops } from "../session/stops.js";
import { exitCodes } from "../table/exit-codes.js";

const MANY = 100_000;

export async function runDemo({ options }: Input): Promise<number> {
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
    const fault = inOptions(toFault(error), "--tls-ca");
    say(`anywire: ${fault.message}`);
    return isMistake(fault) || fault.code === "invalid-params" ? exitCodes.misuse : exitCodes.unreachable;
  } finally {
    stop.release();
  }
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
