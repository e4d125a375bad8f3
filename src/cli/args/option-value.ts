import type { OptionSpec } from "../table/types.js";

/** The value for the command, or what is wrong with it. */
export type OptionValue = { readonly value: string | number } | { readonly problem: string };

const durationUnits: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
const byteUnits: Readonly<Record<string, number>> = { "": 1, b: 1, kb: 1e3, mb: 1e6, gb: 1e9, kib: 2 ** 10, mib: 2 ** 20, gib: 2 ** 30 };

export function optionValue(spec: OptionSpec, given: string): OptionValue {
  switch (spec.kind) {
    case "duration": {
      const [, digits, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(given) ?? [];
      const ms = Number(digits) * (durationUnits[unit ?? ""] ?? Number.NaN);
      return ms > 0 && ms <= 2 ** 31 - 1 ? { value: ms } : problem(spec, "a duration such as 500ms, 30s or 2m", given);
    }
    case "bytes": {
      const [, digits, unit] = /^(\d+(?:\.\d+)?)([a-z]*)$/i.exec(given) ?? [];
      const bytes = Math.floor(Number(digits) * (byteUnits[(unit ?? "").toLowerCase()] ?? Number.NaN));
      return bytes > 0 && bytes < 2 ** 31 ? { value: bytes } : problem(spec, "a size such as 500kb or 10mb", given);
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
