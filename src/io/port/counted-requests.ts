import type { IncomingMessage, ServerResponse } from "node:http";
import { constants, type ServerHttp2Stream } from "node:http2";
import type { Duplex } from "node:stream";
import { accountOf, Fault, type Limits, refusedStatus } from "../../core/index.js";
import { ignore } from "../../stream/index.js";
import { percentEncode } from "../grpc/percent.js";
import { faultStatus } from "../grpc/status.js";
import { onQueuedGone } from "../http/node-exchange.js";
import { countRequest, freeOnClose } from "../http/open-request.js";

/** Whether there is room for a request. Each is counted while it is open. A request without room is refused here. */
export interface CountedRequests {
  request(request: IncomingMessage, response: ServerResponse): boolean;
  upgrade(request: IncomingMessage, socket: Duplex): boolean;
  /** `rpc`: refuse it in the form of gRPC. */
  stream(stream: ServerHttp2Stream, rawHeaders: readonly string[], rpc: boolean): boolean;
}

export function countedRequests(limits: Partial<Limits> | undefined): CountedRequests {
  const http1 = (request: IncomingMessage) =>
    countRequest(request, request.rawHeaders, accountOf(request.socket, limits, request.socket.remoteAddress), limits);
  return {
    request(request, response) {
      const held = http1(request);
      if (held instanceof Fault) {
        refuseRequest(request, response, held);
        return false;
      }
      freeOnClose(response, held);
      const unhook = onQueuedGone(request, response, () => held.free());
      if (unhook !== undefined) response.once("close", unhook);
      return true;
    },
    upgrade(request, socket) {
      const held = http1(request);
      if (held instanceof Fault) {
        socket.destroy();
        return false;
      }
      freeOnClose(socket, held);
      return true;
    },
    stream(stream, rawHeaders, rpc) {
      const { session } = stream;
      if (session === undefined || session.destroyed) {
        stream.on("error", ignore).destroy();
        return false;
      }
      const held = countRequest(stream, rawHeaders, accountOf(session, limits), limits);
      if (held instanceof Fault) {
        refuseStream(stream, held, rpc);
        return false;
      }
      freeOnClose(stream, held);
      return true;
    },
  };
}

/** The request's body is read and dropped, so that the client can read the answer. */
function refuseRequest(request: IncomingMessage, response: ServerResponse, fault: Fault): void {
  // Behind requests that are not answered yet, the refusal would have to wait too.
  if (response.socket === null) return void request.socket.destroy();
  request.resume();
  response.writeHead(refusedStatus(fault), { "content-type": "text/plain" }).end(`${fault.message}\n`);
}

function refuseStream(stream: ServerHttp2Stream, fault: Fault, rpc: boolean): void {
  stream.on("error", ignore);
  const { code, message = "" } = faultStatus(fault);
  const head = rpc
    ? { ":status": 200, "content-type": "application/grpc", "grpc-status": String(code), "grpc-message": percentEncode(message) }
    : { ":status": refusedStatus(fault), "content-type": "text/plain" };
  stream.respond(head, { endStream: rpc });
  if (!rpc) stream.end(`${fault.message}\n`);
  stream.resume();
  // A client that still sends is told to stop, after it can read why.
  setImmediate(() => {
    if (!stream.readableEnded && !stream.destroyed) stream.close(constants.NGHTTP2_NO_ERROR);
  });
}
