import { Writer } from "./writer.js";

let spare: Writer | undefined = new Writer();

/** A writer; there is one to be used again and again, unless it is in use: JSON may call a program's `toJSON`. */
export function borrow(): Writer {
  const writer = spare ?? new Writer();
  spare = undefined;
  return writer;
}

export function giveBack(writer: Writer): void {
  writer.reset();
  spare = writer;
}
