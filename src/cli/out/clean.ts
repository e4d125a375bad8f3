// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it is about
const unsafe = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/** A stranger's text for a terminal: what would move its cursor, recolour it or reorder its text is made visible. */
export function clean(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(unsafe, visible);
}

/** The same as one line. */
export function cleanLine(text: string): string {
  return clean(text).replace(/[\n\t]+/g, " ");
}

function visible(character: string): string {
  const code = character.charCodeAt(0);
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16)}`;
}
