export { NO_ERROR, REFUSED_STREAM } from "./frames.js";
export { nodeHttp2Client } from "./node/session.js";
export { http2Client } from "./session.js";
export type {
  Http2Client,
  Http2ClientSession,
  Http2ClientStream,
  OpenHttp2,
  OpenSocket,
  StreamEvents,
} from "./types.js";
