import { Fault } from "../../core/index.js";

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** The text of the body of an answer. Throws a Fault `parse` if it is not UTF-8. `coding` is the Content-Encoding that the answer names. */
export function answerText(bytes: Uint8Array, coding: string | undefined): string {
  try {
    return utf8.decode(bytes);
  } catch (cause) {
    const why = coding === undefined ? "" : `: the server sent it with Content-Encoding ${coding}, which it was not asked for`;
    throw new Fault("parse", `the answer is not UTF-8${why}`, { cause });
  }
}
