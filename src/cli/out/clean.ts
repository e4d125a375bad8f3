// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it is about
const unsafe = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** A stranger's text for a person: what would move the cursor, recolour or reorder text is made visible, as JSON would write it. */
export function clean(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(unsafe, visible);
}

/** The same as one line. */
export function cleanLine(text: string): string {
  return clean(text).replace(/[\n\t]+/g, " ");
}

/** Characters of an error or a question that a person is shown: a server may send millions. */
const SHOWN = 4096;

/** Text that is shown as far as anybody would read it, and says how much was left out. */
export function shortened(text: string): string {
  return text.length <= SHOWN ? text : `${text.slice(0, SHOWN)}… ${text.length - SHOWN} characters more`;
}

function visible(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** Stands for the escape character in codes of our own: nobody else can know it, so nobody else's text has it. */
let mark: string | undefined;

/** A code that a terminal obeys once it has gone through forPerson(). */
export function code(number: number): string {
  mark ??= `\u0000${crypto.randomUUID()}`;
  return `${mark}[${number}m`;
}

/** Whether a text has codes of our own, which take no room on the screen. */
export function isStyled(text: string): boolean {
  return mark !== undefined && text.includes(mark);
}

/** All that is written for a person goes through here, whoever it comes from: the terminal obeys our own codes and nothing else. */
export function forPerson(text: string): string {
  return mark === undefined ? clean(text) : text.split(mark).map(clean).join("\u001b");
}
