export { memory, memoryWire } from "./memory.js";
export { linkPair } from "./pair.js";
