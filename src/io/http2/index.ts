export { NO_ERROR, REFUSED_STREAM } from "./frames.js";
export { http2Client } from "./session.js";
export type { Http2ClientOptions, Http2ClientSession, Http2ClientStream, StreamEvents } from "./types.js";
