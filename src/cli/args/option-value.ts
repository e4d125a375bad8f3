import type { OptionSpec } from "../table/types.js";

/** The value as the command gets it, or what is wrong with it. */
export type OptionValue = { readonly value: string | number } | { readonly problem: string };

const durationUnits: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000 };

export function optionValue(spec: OptionSpec, given: string): OptionValue {
  switch (spec.kind) {
    case "duration": {
      const [, digits, unit] = /^(\d+(?:\.\d+)?)(ms|s|m)$/.exec(given) ?? [];
      const ms = Number(digits) * (durationUnits[unit ?? ""] ?? Number.NaN);
      return ms > 0 && ms <= 2 ** 31 - 1 ? { value: ms } : problem(spec, "a duration such as 500ms, 30s or 2m", given);
    }
    case "whole":
    case "optional":
      return /^\d{1,15}$/.test(given) ? { value: Number(given) } : problem(spec, "a whole number", given);
    case "choice":
      return spec.choices?.includes(given) ? { value: given } : problem(spec, `one of ${spec.choices?.join(", ")}`, given);
    default:
      return { value: given };
  }
}

function problem(spec: OptionSpec, wanted: string, given: string): OptionValue {
  return { problem: `--${spec.name} takes ${wanted}, not ${JSON.stringify(given)}` };
}
