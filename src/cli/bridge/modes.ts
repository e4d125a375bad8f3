import type { Askable, Rate, SessionMode } from "../../bridge/index.js";
import type { Options } from "../args/input.js";
import { misuse } from "../session/mistake.js";

/** The value of `--sessions`. */
export function sessionMode(options: Options): SessionMode | undefined {
  const text = options.text("sessions");
  if (text === undefined || text === "auto" || text === "shared" || text === "own") return text;
  const [, size] = /^pool=(\d{1,6})$/.exec(text) ?? [];
  if (size === undefined || Number(size) === 0) throw misuse(`--sessions takes auto, shared, own or pool=N, not ${JSON.stringify(text)}`);
  return { pool: Number(size) };
}

const askable: readonly Askable[] = ["elicitation", "sampling", "roots"];

/** The value of `--offer`. */
export function offered(options: Options): readonly Askable[] | undefined {
  const text = options.text("offer");
  if (text === undefined) return undefined;
  const words = text.split(/[\s,]+/).filter((word) => word !== "" && word !== "none");
  return words.map((word) => {
    const known = askable.find((each) => each === word);
    if (known === undefined) throw misuse(`--offer takes ${askable.join(", ")} or none, not ${JSON.stringify(word)}`);
    return known;
  });
}

const rateUnits: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 };

/** The value of `--rate` or `--tool-rate`. */
export function rateOf(options: Options, name: "rate" | "tool-rate"): Rate | undefined {
  const text = options.text(name);
  if (text === undefined) return undefined;
  const [, calls, unit] = /^(\d{1,9})\/([smh])$/.exec(text) ?? [];
  if (unit === undefined || Number(calls) === 0)
    throw misuse(`--${name} takes calls in a time, such as 100/s or 600/m, not ${JSON.stringify(text)}`);
  return { calls: Number(calls), ms: rateUnits[unit] ?? 0 };
}
