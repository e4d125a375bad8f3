export { type Socket, socketLink } from "./link.js";
export { type WebSocketListenOptions, webSocketMount } from "./listen.js";
export type { WebSocketDialOptions } from "./options.js";
export { websocket } from "./websocket.js";
