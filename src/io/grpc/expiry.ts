import { timerMs } from "../../stream/index.js";

/** Calls `run` once at an epoch time, in the next turn at the earliest. The returned function cancels it. */
export function runAt(time: number, run: () => void): () => void {
  let timer: NodeJS.Timeout;
  const arm = (): void => {
    const wait = time - Date.now();
    timer = setTimeout(wait > timerMs(wait) ? arm : run, timerMs(Math.max(0, wait)));
  };
  arm();
  return () => clearTimeout(timer);
}
