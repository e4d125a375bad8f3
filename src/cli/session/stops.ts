import { Fault } from "../../api/index.js";
import { exitCodes } from "../table/exit-codes.js";

/** What ends a command early: a signal, or nobody who reads its output. */
export interface Stops {
  readonly signal: AbortSignal;
  /** The exit code for it; undefined as long as nothing stopped the command. */
  readonly code: number | undefined;
  stop(code: number, message: string): void;
  release(): void;
}

const signals: readonly (readonly [name: NodeJS.Signals, code: number])[] = [
  ["SIGINT", exitCodes.interrupted],
  ["SIGTERM", exitCodes.terminated],
  ["SIGHUP", exitCodes.hangup],
];

/** The first signal stops the command cleanly, the second exits at once. What it started ends with it either way. */
export function stops(): Stops {
  const controller = new AbortController();
  let code: number | undefined;
  const stop = (with_: number, message: string): void => {
    if (code !== undefined) return;
    code = with_;
    controller.abort(new Fault("cancelled", message));
  };
  const listeners = signals.map(([name, exit]) => {
    const listener = (): void => {
      if (code !== undefined) process.exit(code === exitCodes.ok ? exit : code);
      stop(exit, "interrupted");
    };
    process.on(name, listener);
    return () => void process.off(name, listener);
  });
  return {
    signal: controller.signal,
    get code() {
      return code;
    },
    stop,
    release: () => {
      for (const unhook of listeners) unhook();
    },
  };
}
