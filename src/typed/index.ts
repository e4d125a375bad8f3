/**
 * Tools with messages of protobuf, for every server and client of this package. Unstable: what is exported here may change in any release,
 * also in a minor one.
 *
 * @module
 */

import { supportMessages } from "../core/index.js";
import { callTyped } from "./client.js";
import { messageTools } from "./server.js";

supportMessages({ tools: messageTools, call: callTyped });

export type { BrokenRule, CallTypedOptions, ToolMessages, TypedHandler, TypedToolOptions, Validate } from "../core/index.js";
export { protovalidate } from "./validate.js";
