/**
 * Tools with protobuf messages. Unstable: what is exported here may change in any release, also in a minor one.
 *
 * @module
 */

export { type CallTypedOptions, type ToolMessages, type TypedClient, typedClient } from "./client.js";
export { type TypedHandler, type TypedOptions, type TypedServer, type TypedTool, type TypedToolOptions, typed } from "./server.js";
export { type BrokenRule, protovalidate, type Validate } from "./validate.js";
