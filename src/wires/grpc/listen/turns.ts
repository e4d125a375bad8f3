/**
 * Messages that are taken in one turn of the event loop. What they are answered with leaves before the next are taken: else both ends
 * would take turns with all that is under way, one idle while the other works. And a client that sends much at once does not hold up others.
 */
export const TURN = 16;

export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
