/** Lines that wait until it is known whether anybody should read them. */
export interface HeldLines {
  put(line: string): void;
  /** Passes them on, and what comes from now on. */
  show(): void;
  /** Forgets them, and what comes from now on. */
  drop(): void;
}

/** Characters that are held at most; with more of them nothing is held any longer. */
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
