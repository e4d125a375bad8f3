/** A client in a page, a worker or any other place that has fetch and WebSocket. Nothing here needs Node. */
export { type CallOptions, type ClientOptions, type DialWire, Fault, type McpClient } from "../core/index.js";
export { connectPage as connect, type PageConnectOptions as ConnectOptions } from "./connect.js";
export { connectWire } from "./connect-wire.js";
export type { FetchOptions } from "./fetch-options.js";
export { httpWire } from "./http-wire.js";
export { webSocketWire } from "./web-socket-wire.js";
