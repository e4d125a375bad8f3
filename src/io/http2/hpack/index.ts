export { HpackDecoder } from "./decoder.js";
export { HpackEncoder } from "./encoder.js";
