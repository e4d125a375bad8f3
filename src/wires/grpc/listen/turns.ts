/**
 * Messages that are taken in one turn of the event loop. Their answers are sent before the next ones are taken. Otherwise both ends would
 * take turns with everything in flight, one idle while the other works. Also, a client that sends much at once does not hold up others.
 */
export const TURN = 16;

export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
