const units: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 1e-3, n: 1e-6 };

/** The milliseconds of a `grpc-timeout`; undefined if it is invalid. */
export function parseTimeout(text: string): number | undefined {
  const match = /^(\d{1,8})([HMSmun])$/.exec(text);
  if (match === null) return undefined;
  return Number(match[1]) * (units[match[2] ?? ""] ?? 0);
}

/** A `grpc-timeout` of at most eight digits. It exceeds `ms` by less than one of its units. */
export function formatTimeout(ms: number): string {
  if (ms <= 0) return "0n";
  if (ms < 1) return `${Math.ceil(ms * 1000)}u`;
  for (const [unit, size] of [
    ["m", 1],
    ["S", 1000],
    ["M", 60_000],
  ] as const) {
    const count = Math.ceil(ms / size);
    if (count < 100_000_000) return `${count}${unit}`;
  }
  return `${Math.min(Math.ceil(ms / 3_600_000), 99_999_999)}H`;
}
