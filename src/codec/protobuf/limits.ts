import { defaultLimits } from "../../core/index.js";

export interface DecodeLimits {
  /** Nesting of the JSON message that the bytes stand for. */
  readonly depth: number;
}

export const defaultDecodeLimits: DecodeLimits = { depth: defaultLimits.depth };
