import type { ServeOptions } from "../../api/index.js";
import { combineObservers, type Observer } from "../../api/index.js";
import { type Bridge, type BridgeOptions, bridge, filterTools, limitRate, opsMount } from "../../bridge/index.js";
import { defaultTimeouts, type Fault } from "../../core/index.js";
import { type Metrics, metrics } from "../../observe/index.js";
import type { Input } from "../args/input.js";
import { secretOf } from "../session/pem.js";
import { signedIn } from "../session/sign-in.js";
import { gateOptions } from "./gate.js";
import type { BridgeLog } from "./log.js";
import { offered, rateOf, sessionMode } from "./modes.js";
import { typedOnDemand } from "./typed.js";
import { dialOptions, signInOptions, upstreamAddress, upstreamTarget } from "./upstream.js";

export interface BridgeHooks {
  readonly log: BridgeLog;
  /** Called with each line of the server's stderr. It is also quoted if the server does not start. */
  readonly onStderr: (line: string) => void;
  /** Called with what goes wrong outside any call while the server starts. Until then there are no clients, so it is about the server. */
  readonly onFault: (fault: Fault) => void;
  /** Prints where to sign in. */
  readonly print: (line: string) => void;
  /** Fires when no more calls are accepted. */
  readonly stopping: AbortSignal;
}

/** Starts the bridge that a command line describes. */
export async function startBridge(
  input: Input,
  listen: readonly string[],
  { log, onStderr, onFault, print, stopping }: BridgeHooks,
): Promise<Bridge> {
  const { options } = input;
  const target = upstreamTarget(input);
  const to = await upstreamAddress(target, options);
  const dial = dialOptions(target, options);
  const counted = options.has("no-metrics") ? undefined : metrics({ tools: options.has("metrics-tools") });
  const gate = await gateOptions(options, (text) => log.notice(text));
  let started: Bridge | undefined;
  const ops = opsMount({
    ...gate,
    health: options.has("health") ? options.texts("health").map(rooted) : undefined,
    state: () => (stopping.aborted ? "stopped" : (started?.upstream.check() ?? "starting")),
    metrics: counted,
  });
  const settings: BridgeOptions = {
    listen,
    to,
    dial,
    serve: { ...gate, ...serveOptions(input), mounts: [ops] },
    layers: await layersOf(input),
    sessions: sessionMode(options),
    offer: offered(options),
    callMs: options.number("timeout"),
    idleStopMs: options.number("idle-stop"),
    clientIdleMs: options.number("idle-timeout"),
    sealKey: secretOf(options, "seal-key", (text) => log.notice(text)),
    lazy: options.has("lazy"),
    observe: combined(log.observe, counted),
    onStderr,
    onFault: (fault) => {
      if (started === undefined) onFault(fault);
      if (options.times("verbose") > 0) log.notice(`${fault.code}: ${fault.message}`);
    },
  };
  const { oauth, callbackUrl } = signInOptions(options);
  started = await signedIn(to, dial.headers, (auth) => bridge(auth === undefined ? settings : { ...settings, dial: { ...dial, auth } }), {
    print,
    patienceMs: options.number("sign-in-timeout") ?? defaultTimeouts.patienceMs,
    oauth,
    callbackUrl,
  });
  if (counted !== undefined) countUpstream(counted, started);
  return started;
}

function serveOptions({ options }: Input): ServeOptions {
  const max = options.number("max-body");
  const keepAliveMs = options.number("keepalive");
  return {
    stateless: options.has("stateless"),
    basePath: rooted(options.text("base-path") ?? ""),
    relativeEndpoint: options.has("public-url"),
    drainMs: options.number("drain"),
    ...(keepAliveMs === undefined ? undefined : { keepAliveMs, pingMs: keepAliveMs }),
    ...(max === undefined ? undefined : { limits: { messageBytes: max } }),
  };
}

/** A path of a port begins with a slash, also if the user left it out. */
function rooted(path: string): string {
  return path === "" ? path : path.replace(/^\/*/, "/");
}

async function layersOf({ options }: Input): Promise<BridgeOptions["layers"]> {
  const [allow, deny] = [options.texts("allow-tool"), options.texts("deny-tool")];
  const limits = { perClient: rateOf(options, "rate"), perTool: rateOf(options, "tool-rate") };
  return [
    ...(limits.perClient === undefined && limits.perTool === undefined ? [] : [limitRate(limits)]),
    ...(options.text("discover") === "progressive" ? [(await import("../../schema/index.js")).progressive()] : []),
    typedOnDemand(),
    ...(allow.length === 0 && deny.length === 0 ? [] : [filterTools({ deny, ...(allow.length === 0 ? undefined : { allow }) })]),
  ];
}

function combined(log: Observer | undefined, counted: Metrics | undefined): Observer | undefined {
  return log === undefined || counted === undefined ? (log ?? counted) : combineObservers(log, counted);
}

function countUpstream(counted: Metrics, { upstream }: Bridge): void {
  counted.add({
    type: "gauge",
    name: "anywire_upstream_state",
    help: "The state of the server behind the bridge.",
    label: "state",
    read: () => ({ [upstream.state]: 1 }),
  });
  counted.add({ type: "gauge", name: "anywire_upstream_sessions", help: "Sessions with the server.", read: () => upstream.sessions });
  counted.add({ type: "counter", name: "anywire_upstream_restarts_total", help: "Restarts of the server.", read: () => upstream.restarts });
}
