import { Fault } from "../core/index.js";
import { divertConsole } from "./divert-console.js";

let taken = false;

/**
 * Takes over this process's own stdin and stdout, whatever is spoken there. Meanwhile `console` writes to stderr. The returned function
 * gives them back. Throws a Fault if they are taken: two protocols would read each other's bytes.
 */
export function takeStdio(): () => void {
  if (taken) throw new Fault("unavailable", "stdin and stdout are already listened on", { data: { reason: "in-use" } });
  taken = true;
  const restore = divertConsole();
  return () => {
    restore();
    taken = false;
    // Both stay open for whoever uses them next. A paused stdin does not keep the process alive. It can be paused only a tick after its
    // listener was removed, when the stream has noticed that.
    process.nextTick(() => {
      if (!taken) process.stdin.pause();
    });
  };
}
