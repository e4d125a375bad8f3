/** setTimeout fires at once for a longer wait. */
const LONGEST = 2 ** 31 - 1;

/** Calls once at an epoch time, at the earliest in the next turn; the returned function forgets it. */
export function at(time: number, run: () => void): () => void {
  let timer: NodeJS.Timeout;
  const arm = (): void => {
    const wait = time - Date.now();
    timer = wait > LONGEST ? setTimeout(arm, LONGEST) : setTimeout(run, Math.max(0, wait));
  };
  arm();
  return () => clearTimeout(timer);
}
