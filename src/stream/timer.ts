/** The longest wait of a timer. A longer one would be over at once. */
export const LONGEST_TIMER_MS: number = 2 ** 31 - 1;

/** The milliseconds for a timer: those given, or as many as a timer can wait. That is 24 days, so `Infinity` is as good as never. */
export function timerMs(ms: number): number {
  return Math.min(ms, LONGEST_TIMER_MS);
}
