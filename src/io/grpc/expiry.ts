/** The longest wait of setTimeout. A longer one would fire at once. */
const LONGEST = 2 ** 31 - 1;

/** Calls `run` once at an epoch time, in the next turn at the earliest. The returned function cancels it. */
export function at(time: number, run: () => void): () => void {
  let timer: NodeJS.Timeout;
  const arm = (): void => {
    const wait = time - Date.now();
    timer = wait > LONGEST ? setTimeout(arm, LONGEST) : setTimeout(run, Math.max(0, wait));
  };
  arm();
  return () => clearTimeout(timer);
}
