/** One line of the table. */
export interface Figure {
  readonly name: string;
  readonly value: string;
  readonly target: string;
  readonly pass: boolean;
}

export interface Outcome {
  readonly figures: readonly Figure[];
  /** What stands behind the figures. */
  readonly notes: readonly string[];
}

export interface Bench {
  readonly name: string;
  run(): Promise<Outcome>;
}

export function atMost(name: string, value: number, most: number, unit: string, digits = 0): Figure {
  return {
    name,
    value: `${format(value, digits)}${unit}`,
    target: `<= ${format(most, digits > 0 ? (Number.isInteger(most * 10) ? 1 : 2) : 0)}${unit}`,
    pass: value <= most,
  };
}

export function atLeast(name: string, value: number, least: number, unit: string): Figure {
  return { name, value: `${format(value, 2)}${unit}`, target: `>= ${format(least, 1)}${unit}`, pass: value >= least };
}

export function format(value: number, digits = 0): string {
  return value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}
