export type { HttpDialOptions } from "./dial/link.js";
export { type Endpoint, httpEndpoint } from "./endpoint.js";
export { type EventStore, type MemoryEventsOptions, memoryEvents, type Replay } from "./events.js";
export { http, httpLink } from "./http.js";
export { httpMount } from "./listen.js";
export { type FetchHandler, fetchHandler, type NodeHandler, nodeHandler } from "./mount.js";
export type { HttpOptions } from "./options.js";
