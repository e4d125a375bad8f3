import { Fault } from "../../../core/index.js";

export function badHeaders(what: string): Fault {
  return new Fault("invalid-request", `a header block cannot be read: ${what}`, { data: { reason: "hpack" } });
}

export function tooLong(max: number): Fault {
  return new Fault("overload", `a header list is longer than ${max} bytes`, { data: { limit: "headerBytes", max } });
}
