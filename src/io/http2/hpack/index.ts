export { HpackDecoder, type HpackDecoderOptions } from "./decoder.js";
export { HpackEncoder } from "./encoder.js";
