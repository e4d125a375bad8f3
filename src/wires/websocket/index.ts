export { type Socket, socketLink } from "./link.js";
export type { WebSocketListenOptions } from "./listen.js";
export { type WebSocketDialOptions, websocket } from "./websocket.js";
