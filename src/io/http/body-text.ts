import { Fault } from "../../core/index.js";

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** The text of a body. Rejects with a Fault `parse` if it is not UTF-8. */
export async function bodyText(bytes: Uint8Array): Promise<string> {
  try {
    return utf8.decode(bytes);
  } catch (error) {
    throw new Fault("parse", "the body is not UTF-8", { cause: error });
  }
}

export function bodyTooLarge(maxBytes: number): Fault {
  return new Fault("overload", `the body is larger than ${maxBytes} bytes`, { data: { limit: "messageBytes", max: maxBytes } });
}
