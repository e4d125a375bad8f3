import { ExactNumber, Fault, fixedLimits, type JsonObject } from "../core/index.js";
import { closingQuote } from "./depth.js";

/** A result of survey(): every number is that of the text, and nothing nests too deep. */
export const PLAIN = 0;
/** A result of survey(): there is a number that JSON.parse may have changed. */
export const ODD = 1;
/** A result of survey(): a value nests too deep. Numbers may not have been looked at then. */
export const DEEP = 2;

/** Deeper than any text. An integer, because arithmetic with Infinity is slow. */
const BOTTOMLESS = 2 ** 30;

/** From here on, not every integer is a double. */
const LIMIT = 2 ** 53;

/** Searches what JSON.parse returned: whether it nests deeper than `max`, and whether the text may have had another number. */
export function survey(value: unknown, max: number): number {
  if (typeof value === "number") return isOdd(value) ? ODD : PLAIN;
  if (typeof value !== "object" || value === null) return PLAIN;
  if (max === 0) return DEEP;
  let found: number = PLAIN;
  if (Array.isArray(value)) {
    for (const element of value) {
      if (typeof element === "number") found |= isOdd(element) ? ODD : PLAIN;
      else if (typeof element === "object" && (found |= survey(element, max - 1)) >= DEEP) return DEEP;
    }
    return found;
  }
  for (const name in value) {
    const member = (value as JsonObject)[name];
    if (typeof member === "number") found |= isOdd(member) ? ODD : PLAIN;
    else if (typeof member === "object" && (found |= survey(member, max - 1)) >= DEEP) return DEEP;
  }
  return found;
}

function isOdd(number: number): boolean {
  return number >= LIMIT || number <= -LIMIT || Object.is(number, -0);
}

/** JSON.parse that keeps numbers exactly. */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return survey(value, BOTTOMLESS) === PLAIN ? value : parseExactly(text);
}

/** What stands before a number that was put into a string. Nobody outside this process knows it, so no string of a peer begins with it. Made when it is first needed. */
let mark: string | undefined;

const MOST = fixedLimits.exactNumbers;

/** Parses valid JSON text, with an ExactNumber for each number that a double would change. Throws a Fault if there are too many. */
export function parseExactly(text: string): unknown {
  mark ??= `number-${crypto.randomUUID()}:`;
  let marked = "";
  let from = 0;
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === 0x22) at = closingQuote(text, at);
    else if (unit === 0x2d || (unit >= 0x30 && unit <= 0x39)) {
      const end = endOfNumber(text, at);
      const number = text.slice(at, end);
      if (changes(number)) {
        if (++count > MOST)
          throw new Fault("overload", "the message has too many numbers that JavaScript cannot hold exactly", {
            data: { limit: "exactNumbers", max: MOST },
          });
        marked += `${text.slice(from, at)}"${mark}${number}"`;
        from = end;
      }
      at = end - 1;
    }
  }
  const value: unknown = JSON.parse(marked + text.slice(from));
  return from === 0 ? value : restored(value, mark);
}

function restored(value: unknown, before: string): unknown {
  if (typeof value === "string") return value.startsWith(before) ? new ExactNumber(value.slice(before.length)) : value;
  if (typeof value !== "object" || value === null) return value;
  // Each member exists already, even `__proto__`, so the assignment does not change the prototype.
  const members = value as Record<string, unknown>;
  for (const name of Object.keys(members)) members[name] = restored(members[name], before);
  return value;
}

function endOfNumber(text: string, from: number): number {
  let end = from + 1;
  for (; end < text.length; end++) {
    const unit = text.charCodeAt(end);
    // Digits, plus, minus, point, e and E.
    if ((unit < 0x30 || unit > 0x39) && unit !== 0x2e && unit !== 0x2b && unit !== 0x2d && (unit | 0x20) !== 0x65) break;
  }
  return end;
}

/** Whether JSON.stringify would write another number than the text has. Only for odd ones: other fractions may be rounded. */
function changes(text: string): boolean {
  const number = Number(text);
  if (!isOdd(number)) return false;
  return !Number.isFinite(number) || number === 0 || decimal(text) !== decimal(String(number));
}

/** The significant digits of a number, and the power of ten they are multiplied by. */
function decimal(text: string): string {
  const [, sign, whole = "", fraction = "", exponent = "0"] = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d+))?$/.exec(text) ?? [];
  const digits = whole + fraction;
  let first = 0;
  let end = digits.length;
  while (digits.charCodeAt(first) === 0x30) first++;
  while (end > first && digits.charCodeAt(end - 1) === 0x30) end--;
  return `${sign}${digits.slice(first, end)}e${Number(exponent) - fraction.length + digits.length - end}`;
}
