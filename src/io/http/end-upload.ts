import type { IncomingMessage } from "node:http";
import { constants, type Http2ServerRequest } from "node:http2";
import { fixedTimeouts } from "../../core/index.js";

/**
 * Ends the stream of an HTTP/2 request that is answered and whose body is still being sent: it would stay open as long as the client likes.
 * The client has a moment to read the answer first, because clients on Node 24 take a reset for the end of what they have not read yet.
 */
export function endUpload(request: IncomingMessage | Http2ServerRequest): void {
  if (!("stream" in request) || request.complete) return;
  const { stream } = request;
  const timer = setTimeout(() => stream.close(constants.NGHTTP2_NO_ERROR), fixedTimeouts.lastAnswersMs).unref();
  stream.once("close", () => clearTimeout(timer));
}
