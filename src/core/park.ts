/** Keeps live things between two requests: bounded, expiring, each taken once. */
export interface Park<T> {
  /** Keeps `value` under `key`; when the park is full the oldest makes room. */
  put(key: string, value: T): void;
  /** Takes it out, if it is still there. */
  take(key: string): T | undefined;
  /** Lets go of it now; false if it is not there. */
  drop(key: string): boolean;
  readonly size: number;
  /** Lets go of everything. */
  clear(): void;
}

export interface ParkOptions<T> {
  readonly limit: number;
  readonly ms: number;
  /** What to do with a value that nobody came back for. */
  readonly release: (value: T) => void;
}

export function park<T>(options: ParkOptions<T>): Park<T> {
  // Insertion order is expiry order, because every value is kept equally long: one timer serves the oldest.
  const kept = new Map<string, { readonly value: T; readonly until: number }>();
  let timer: ReturnType<typeof setTimeout> | undefined;

  const drop = (key: string): boolean => {
    const entry = kept.get(key);
    if (entry === undefined) return false;
    kept.delete(key);
    options.release(entry.value);
    return true;
  };
  const oldest = (): [string, { readonly until: number }] | undefined => kept.entries().next().value;
  const arm = (): void => {
    const first = oldest();
    if (first === undefined) {
      clearTimeout(timer);
      timer = undefined;
    } else if (timer === undefined) {
      timer = setTimeout(sweep, Math.max(0, first[1].until - Date.now()));
    }
  };
  const sweep = (): void => {
    timer = undefined;
    for (let first = oldest(); first !== undefined && first[1].until <= Date.now(); first = oldest()) drop(first[0]);
    arm();
  };

  return {
    put(key, value) {
      const first = oldest();
      if (kept.size >= options.limit && first !== undefined) drop(first[0]);
      kept.set(key, { value, until: Date.now() + options.ms });
      arm();
    },
    take(key) {
      const entry = kept.get(key);
      if (entry === undefined) return undefined;
      kept.delete(key);
      arm();
      return entry.value;
    },
    drop(key) {
      const there = drop(key);
      arm();
      return there;
    },
    get size() {
      return kept.size;
    },
    clear() {
      for (const key of [...kept.keys()]) drop(key);
      arm();
    },
  };
}
