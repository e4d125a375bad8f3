export { type ProtoListenOptions, protoMount } from "./listen.js";
export { type ProtoDialOptions, protomcp } from "./protomcp.js";
