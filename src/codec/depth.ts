import { Fault, fixedLimits } from "../core/index.js";

export const MOST_VALUES: number = fixedLimits.messageValues;

export function tooManyValues(): Fault {
  return new Fault("overload", "the message holds too many values", { data: { limit: "messageValues", max: MOST_VALUES } });
}

/**
 * Texts of up to this length are parsed before their depth is checked: checking the value costs a quarter of checking the text. Parsing a
 * longer text might take too much memory.
 */
export const PARSED_FIRST: number = 2 * 1024 * 1024;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Whether JSON text nests deeper than `max`. Reads it once at most, in constant memory. */
export function exceedsDepth(text: string, max: number): boolean {
  // Every level takes two characters and one opening bracket, so ordinary messages need no more than these checks.
  if (text.length <= 2 * max || !opensMore(text, max)) return false;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = closingQuote(text, at);
        break;
      case 0x5b:
      case 0x7b:
        if (++depth > max) return true;
        break;
      case 0x5d:
      case 0x7d:
        depth--;
    }
  }
  return false;
}

/**
 * Whether JSON text has more than `max` values. Each is counted by the comma or bracket before it. Reads the text once, in constant memory.
 */
export function holdsMore(text: string, max: number): boolean {
  let count = 1;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = closingQuote(text, at);
        break;
      case 0x2c:
      case 0x5b:
      case 0x7b:
        if (++count > max) return true;
    }
  }
  return false;
}

/**
 * The text of an object with each array or object member emptied, for when only its own scalars matter. Linear in the text, whatever its
 * nesting. Invalid text gives an invalid result.
 */
export function shallow(text: string): string {
  let kept = "";
  let from = 0;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = closingQuote(text, at);
        break;
      case 0x5b:
      case 0x7b:
        if (++depth === 2) kept += text.slice(from, at);
        break;
      case 0x5d:
      case 0x7d:
        if (--depth !== 1) break;
        kept += "{}";
        from = at + 1;
    }
  }
  return depth === 0 ? kept + text.slice(from) : "";
}

/** Whether there are more than `max` opening brackets, inside strings or not. */
function opensMore(text: string, max: number): boolean {
  let count = 0;
  for (const bracket of "{[") {
    for (let at = text.indexOf(bracket); at >= 0; at = text.indexOf(bracket, at + 1)) {
      if (++count > max) return true;
    }
  }
  return false;
}

/** Where the string that opens at `open` closes; the end of the text if it does not close. */
export function closingQuote(text: string, open: number): number {
  for (let at = text.indexOf('"', open + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let first = at;
    while (text.charCodeAt(first - 1) === BACKSLASH) first--;
    if ((at - first) % 2 === 0) return at;
  }
  return text.length;
}
