/** OpenTelemetry's bounds for the duration of MCP operations, in seconds. */
export const durationBounds: readonly number[] = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];

type LabelValues = readonly string[];

/** Numbers with one name, told apart by labels. */
export interface Family {
  /** The text that Prometheus reads. */
  text(): string;
}

/** A counter or a gauge. */
export class Numbers implements Family {
  readonly #head: string;
  readonly #name: string;
  readonly #labels: readonly string[];
  readonly #values = new Map<string, { readonly labels: string; value: number }>();

  constructor(type: "counter" | "gauge", name: string, help: string, labels: readonly string[]) {
    this.#head = head(type, name, help);
    this.#name = name;
    this.#labels = labels;
  }

  add(values: LabelValues, amount = 1): void {
    this.at(values).value += amount;
  }

  set(values: LabelValues, value: number): void {
    this.at(values).value = value;
  }

  text(): string {
    let text = this.#head;
    for (const { labels, value } of this.#values.values()) text += `${this.#name}${labels} ${value}\n`;
    return this.#values.size === 0 ? "" : text;
  }

  /** The number for these labels. Whoever counts often may keep it and change it in place. */
  at(values: LabelValues): { value: number } {
    const key = values.join("\0");
    let found = this.#values.get(key);
    if (found === undefined) {
      found = { labels: labelText(this.#labels, values), value: 0 };
      this.#values.set(key, found);
    }
    return found;
  }
}

export interface Distribution {
  readonly values: LabelValues;
  /** Counts of the single buckets. The last one is beyond all bounds. */
  readonly counts: number[];
  sum: number;
}

export class Histogram implements Family {
  readonly #head: string;
  readonly #name: string;
  readonly #labels: readonly string[];
  readonly #found = new Map<string, Distribution>();

  constructor(name: string, help: string, labels: readonly string[]) {
    this.#head = head("histogram", name, help);
    this.#name = name;
    this.#labels = labels;
  }

  /** The distribution for these labels, to be passed to `observe`. */
  at(values: LabelValues): Distribution {
    const key = values.join("\0");
    let found = this.#found.get(key);
    if (found === undefined) {
      found = { values, counts: Array<number>(durationBounds.length + 1).fill(0), sum: 0 };
      this.#found.set(key, found);
    }
    return found;
  }

  text(): string {
    let text = this.#head;
    for (const { values, counts, sum } of this.#found.values()) {
      let total = 0;
      for (const [at, count] of counts.entries()) {
        total += count;
        const bound = durationBounds[at] ?? "+Inf";
        text += `${this.#name}_bucket${labelText([...this.#labels, "le"], [...values, String(bound)])} ${total}\n`;
      }
      const labels = labelText(this.#labels, values);
      text += `${this.#name}_sum${labels} ${sum}\n${this.#name}_count${labels} ${total}\n`;
    }
    return this.#found.size === 0 ? "" : text;
  }
}

/** Counts a duration. */
export function observe(distribution: Distribution, seconds: number): void {
  const within = durationBounds.findIndex((bound) => seconds <= bound);
  const bucket = within < 0 ? durationBounds.length : within;
  distribution.counts[bucket] = (distribution.counts[bucket] ?? 0) + 1;
  distribution.sum += seconds;
}

function head(type: string, name: string, help: string): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
}

function labelText(names: readonly string[], values: LabelValues): string {
  if (names.length === 0) return "";
  return `{${names.map((name, at) => `${name}="${escaped(values[at] ?? "")}"`).join(",")}}`;
}

function escaped(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
