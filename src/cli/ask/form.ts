import type { ElicitResult, JsonObject } from "../../api/index.js";
import { cleanLine } from "../out/clean.js";
import { type FormField, formFields, readField } from "./field.js";
import type { Terminal } from "./terminal.js";

/** Commands that can be typed instead of an answer. A backslash before one makes it an answer. */
const DECLINE = "!";
const LEAVE_OUT = "-";

type FieldAnswer = { readonly tag: "value"; readonly value: unknown } | { readonly tag: "none" } | { readonly tag: "declined" | "ended" };

/** Asks for each field of a form in turn, then whether to send it. */
export async function askForm(schema: JsonObject | undefined, at: Terminal, signal: AbortSignal): Promise<ElicitResult> {
  const fields = formFields(schema);
  const { screen } = at;
  screen.line(
    screen.style.dim(`Enter keeps a default, ${LEAVE_OUT} leaves an optional field out, ${DECLINE} declines, Ctrl-C cancels the call.`),
  );
  for (;;) {
    const entries: [string, unknown][] = [];
    for (const field of fields) {
      const answer = await askField(field, at, signal);
      if (answer.tag === "declined") return { action: "decline" };
      if (answer.tag === "ended") return { action: "cancel" };
      if (answer.tag === "value") entries.push([field.name, answer.value]);
    }
    const sure = await at.ask(`${screen.style.bold("Send?")} [Y/n/${DECLINE}] `, signal);
    if (sure === undefined) return { action: "cancel" };
    if (sure.trim() === DECLINE) return { action: "decline" };
    if (/^(y|yes)?$/i.test(sure.trim())) return { action: "accept", content: Object.fromEntries(entries) };
    if (fields.length === 0) return { action: "decline" };
  }
}

async function askField(field: FormField, at: Terminal, signal: AbortSignal): Promise<FieldAnswer> {
  const { screen } = at;
  if (field.description !== undefined) screen.line(`  ${screen.style.dim(cleanLine(field.description))}`);
  for (const [index, { value, title }] of field.choices.entries())
    screen.line(`  ${index + 1}) ${cleanLine(title)}${title === value ? "" : screen.style.dim(` (${cleanLine(value)})`)}`);
  for (;;) {
    const typed = await at.ask(question(field, screen.style.bold), signal);
    if (typed === undefined) return { tag: "ended" };
    const text = typed.trim();
    if (text === DECLINE) return { tag: "declined" };
    if (text === LEAVE_OUT && !field.required) return { tag: "none" };
    if (text === "" && field.fallback !== undefined) return { tag: "value", value: field.fallback };
    if (text === "" && !field.required) return { tag: "none" };
    if (text === "") {
      screen.line(screen.style.red("  this one is required"));
      continue;
    }
    const read = readField(field, text === `\\${DECLINE}` || text === `\\${LEAVE_OUT}` ? text.slice(1) : text);
    if ("value" in read) return { tag: "value", value: read.value };
    screen.line(screen.style.red(`  ${read.problem}`));
  }
}

function question(field: FormField, bold: (text: string) => string): string {
  const about = [
    field.type === "string" ? undefined : kinds[field.type],
    field.required ? "required" : "optional",
    field.fallback === undefined ? undefined : `default ${cleanLine(JSON.stringify(field.fallback))}`,
  ];
  return `${bold(cleanLine(field.title))} (${about.filter((each) => each !== undefined).join(", ")}): `;
}

const kinds: Record<Exclude<FormField["type"], "string">, string> = {
  number: "number",
  integer: "whole number",
  boolean: "yes or no",
  choice: "one of them",
  choices: "any of them, with commas",
};
