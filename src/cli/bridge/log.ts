import { type CallEvent, combineObservers, type Frame, type Observer, type UpstreamEvent } from "../../api/index.js";
import { redactText } from "../../core/index.js";
import { jsonLog } from "../../observe/index.js";
import { cleanLine } from "../out/clean.js";
import type { Screen } from "../out/screen.js";
import { wireLog } from "../session/wire-log.js";

/** What the bridge writes on stderr while it runs. */
export interface BridgeLog {
  readonly observe: Observer | undefined;
  /** Prints a line for the person who runs it. */
  notice(text: string): void;
  /** Prints why the bridge ends, in any form. */
  ends(text: string): void;
  /** A line that the server wrote on its stderr. */
  server(line: string): void;
}

export interface BridgeLogOptions {
  readonly form: "text" | "json" | "none";
  /** How often `-v` was given. */
  readonly verbose: number;
  readonly view: Screen;
  /** Bytes that wait to be written. Beyond a limit, nothing more is written. */
  readonly backlog: () => number;
}

const BACKLOG_BYTES = 1024 * 1024;
const LONGEST = 2_000;
/** Lines of a server's stderr in a second: it may print more than anybody can read. */
const LINES_A_SECOND = 200;

export function bridgeLog(options: BridgeLogOptions): BridgeLog {
  const { form, verbose, view, backlog } = options;
  const fits = (line: string): string => (line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line);
  const write = (line: string): void => {
    if (backlog() <= BACKLOG_BYTES) view.line(line);
  };
  const json = (members: object): void => write(JSON.stringify({ time: new Date().toISOString(), ...members }));
  const ends = (text: string): void => view.line(`anywire: ${redactText(text)}`);
  if (form === "none") return { observe: undefined, notice: () => {}, ends, server: () => {} };
  if (form === "json")
    return {
      observe: jsonLog({ write }),
      notice: (text) => json({ event: "notice", text: redactText(text) }),
      ends: (text) => json({ event: "end", text: redactText(text) }),
      server: paced((line) => json({ event: "stderr", text: fits(line) })),
    };
  const { dim } = view.style;
  const text = textLog((line) => write(line), verbose > 0);
  const frames = verbose > 1 ? [frameLog((line) => write(dim(line)))] : [];
  return {
    observe: combineObservers(text, ...frames),
    notice: (line) => write(`anywire: ${redactText(line)}`),
    ends,
    server: paced((line) => write(dim(`server| ${fits(cleanLine(line))}`))),
  };
}

/** Logs changes of the server, and with `-v` each call and refusal. */
function textLog(write: (line: string) => void, verbose: boolean): Observer {
  const told: Partial<Record<UpstreamEvent["kind"], (event: UpstreamEvent) => string>> = {
    lost: (event) => `lost the server: ${reasonOf(event)}; trying again`,
    restart: (event) => `the server is back${"milliseconds" in event ? ` after ${Math.round(event.milliseconds)} ms` : ""}`,
    failed: (event) => `the server does not come back: ${reasonOf(event)}; it is tried again from time to time`,
    ...(verbose ? { ready: (event) => `the server is ready: ${"protocolVersion" in event ? event.protocolVersion : ""}` } : {}),
  };
  const upstream = (event: UpstreamEvent): void => {
    const line = told[event.kind]?.(event);
    if (line !== undefined) write(redactText(cleanLine(`anywire: ${line}`)));
  };
  if (!verbose) return { upstream };
  return {
    upstream,
    call(event) {
      if (event.kind === "end") write(redactText(cleanLine(callText(event))));
    },
    refusal: ({ wire, kind, method, rule, fault }) =>
      write(redactText(cleanLine(`${wire} ${kind} ${method ?? "a request"}: ${rule}, ${fault.message.slice(0, 500)}`))),
  };
}

function callText({ call, outcome, milliseconds }: CallEvent & { readonly kind: "end" }): string {
  const { side, wire, method, name } = call;
  return `${side === "listen" ? "←" : "→"} ${wire} ${method}${name === undefined ? "" : ` ${name.slice(0, 200)}`} ${outcome} ${milliseconds.toFixed(1)} ms`;
}

function reasonOf(event: UpstreamEvent): string {
  return "reason" in event && event.reason !== undefined ? event.reason.message : "the connection ended";
}

/** Logs each message that crosses a wire. */
function frameLog(write: (line: string) => void): Observer {
  const logs = new Map<string, Observer>();
  return {
    frame(frame: Frame) {
      const place = `${frame.side === "listen" ? "client" : "server"} ${frame.wire}`;
      let log = logs.get(place);
      if (log === undefined) logs.set(place, (log = wireLog({ line: (line) => write(`${place}  ${line}`), bodies: true })));
      log.frame?.(frame);
    },
  };
}

/** Passes on a limited number of lines a second, then prints how many were left out. */
function paced(write: (line: string) => void): (line: string) => void {
  let since = 0;
  let count = 0;
  return (line) => {
    const now = Date.now();
    if (now - since >= 1_000) {
      if (count > LINES_A_SECOND) write(`(${count - LINES_A_SECOND} more lines in that second)`);
      since = now;
      count = 0;
    }
    if (++count <= LINES_A_SECOND) write(line);
  };
}
