// What of gRPC needs nothing of Node, so that a page can load it.
export { binary, firstOf, fromBinary, valuesOf } from "./metadata.js";
export { fitsStatus } from "./percent.js";
export { httpToGrpc, statusFault, statusNames, UNKNOWN } from "./status.js";
