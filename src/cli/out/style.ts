import { code } from "./clean.js";

/** Styles text for a terminal. Without a terminal, or if it wants no colour, text is unchanged. */
export interface Style {
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
}

const same = (text: string): string => text;
const plain: Style = { bold: same, dim: same, red: same };

const between =
  (on: number, off: number) =>
  (text: string): string =>
    text === "" ? "" : `${code(on)}${text}${code(off)}`;
const coloured: Style = { bold: between(1, 22), dim: between(2, 22), red: between(31, 39) };

export function styleFor(stream: { readonly isTTY?: boolean | undefined }, env: NodeJS.ProcessEnv): Style {
  return stream.isTTY === true && !env["NO_COLOR"] && env["TERM"] !== "dumb" ? coloured : plain;
}
