// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression is about control characters
const unsafe = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Makes foreign text safe to show: what would move the cursor, recolour or reorder text becomes visible, as JSON would write it. */
export function clean(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(unsafe, visible);
}

/** The same as one line. */
export function cleanLine(text: string): string {
  return clean(text).replace(/[\n\t]+/g, " ");
}

/** Characters of an error or a question that are shown: a server may send millions. */
const SHOWN = 4096;

/** Text cut to a readable length, with the number of characters left out. */
export function shortened(text: string): string {
  return text.length <= SHOWN ? text : `${text.slice(0, SHOWN)}… ${text.length - SHOWN} characters more`;
}

function visible(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** Stands for the escape character in our own codes. Nobody else can know it, so no other text contains it. */
let mark: string | undefined;

/** A terminal code, which takes effect after forPerson(). */
export function code(number: number): string {
  mark ??= `\u0000${crypto.randomUUID()}`;
  return `${mark}[${number}m`;
}

/** Whether a text has our own codes, which take no room on the screen. */
export function isStyled(text: string): boolean {
  return mark !== undefined && text.includes(mark);
}

/** All output for people goes through here, wherever it comes from: the terminal obeys only our own codes. */
export function forPerson(text: string): string {
  return mark === undefined ? clean(text) : text.split(mark).map(clean).join("\u001b");
}
