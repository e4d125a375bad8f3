import { Writer } from "./writer.js";

let spare: Writer | undefined = new Writer();

/** Returns a writer. One is reused, unless it is in use: JSON may call a program's `toJSON`. */
export function borrow(): Writer {
  const writer = spare ?? new Writer();
  spare = undefined;
  return writer;
}

export function giveBack(writer: Writer): void {
  writer.reset();
  spare = writer;
}
