import { Fault, jsonText } from "../../core/index.js";
import { packageOf } from "../catalogue.js";
import { pascalCase } from "../convert/names.js";
import { discoveryTools, type ProgressiveOptions } from "../discover/progressive.js";
import { described, indexLine, type ShownTool, signature } from "./text.js";

export type Encoding = "cl100k_base" | "o200k_base";
export const encodings: readonly Encoding[] = ["cl100k_base", "o200k_base"];

/** Counts the tokens of a text. */
export type CountTokens = (text: string) => number;

/** Loads the tokenizer, which is an optional package: the data of an encoding takes some megabytes. */
export async function tokenizer(encoding: Encoding): Promise<CountTokens> {
  try {
    const { countTokens } =
      encoding === "cl100k_base" ? await import("gpt-tokenizer/encoding/cl100k_base") : await import("gpt-tokenizer/encoding/o200k_base");
    // A tool's text that looks like a special token is still text.
    return (text) => countTokens(text, { disallowedSpecial: new Set() });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw cause;
    throw new Fault("unavailable", "counting tokens needs the package gpt-tokenizer, which is not installed: npm install gpt-tokenizer", {
      data: { reason: "not-installed", package: "gpt-tokenizer" },
      cause,
    });
  }
}

/** Ways to show a catalogue to a model. */
export type ShownAs =
  | "json"
  | "described"
  | "signatures"
  | "references"
  | "index"
  | "names"
  | "progressive"
  | "progressive3"
  | "progressive3Largest";

export interface CatalogueTokens {
  readonly tools: number;
  readonly tokens: Readonly<Record<ShownAs, number>>;
}

/** The number of tokens of a catalogue, for each way to show it. */
export function catalogueTokens(
  tools: readonly ShownTool[],
  server: string,
  count: CountTokens,
  options: ProgressiveOptions = {},
): CatalogueTokens {
  const scope = packageOf(server);
  const each = tools.map((tool) => count(jsonText(described(tool))));
  const largest = [...each].sort((one, other) => other - one).slice(0, 3);
  const discovery = discoveryTools(tools.map(indexLine), tools.length, options);
  const progressive = count(jsonText({ tools: discovery }));
  const mean = tools.length === 0 ? 0 : sum(each) / tools.length;
  return {
    tools: tools.length,
    tokens: {
      json: count(jsonText({ tools })),
      described: count(jsonText(tools.map(described))),
      signatures: count(tools.map(signature).join("\n")),
      references: count(tools.map(({ name }) => `${name} buf.build/owner/repository/${scope}.${pascalCase(name)}Request:v1`).join("\n")),
      index: count(tools.map(indexLine).join("\n")),
      names: count(tools.map(({ name }) => name).join("\n")),
      progressive,
      progressive3: Math.round(progressive + Math.min(3, tools.length) * mean),
      progressive3Largest: progressive + sum(largest),
    },
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
