/** Lines that are held until it is known whether to show them. */
export interface HeldLines {
  put(line: string): void;
  /** Passes on the held lines, and all later ones. */
  show(): void;
  /** Drops the held lines, and all later ones. */
  drop(): void;
}

/** The most characters that are held. Beyond that the lines are passed on. */
const MOST = 64 * 1024;

export function heldLines(pass: (line: string) => void): HeldLines {
  let held: string[] = [];
  let size = 0;
  let put = (line: string): void => {
    held.push(line);
    size += line.length + 1;
    if (size > MOST) show();
  };
  const show = (): void => {
    const waiting = held;
    held = [];
    put = pass;
    for (const line of waiting) pass(line);
  };
  const drop = (): void => {
    held = [];
    put = () => {};
  };
  return { put: (line) => put(line), show, drop };
}
