import { MessageCodec, payloadIn, withPayload } from "../../../codec/bufmcpv1/index.js";
import type { Incoming, OutgoingMessage } from "../../../codec/index.js";
import {
  Fault,
  fromRpcError,
  isObject,
  type JsonObject,
  legacyVersions,
  limitsOf,
  meta,
  modernVersions,
  noParams,
} from "../../../core/index.js";
import { hasRoom, type Link, sharedStream } from "../../../era/index.js";
import type { ServerCall } from "../../../io/index.js";
import type { GrpcListenOptions } from "../listen/options.js";
import { onlyMessage } from "../only-message.js";
import { PROTO, unaryRpcs } from "./rpcs.js";

const ID = 1;
const HANDSHAKE = 2;

/**
 * Answers one unary RPC. It is a separate request, of the modern era if that is served, so that a cursor is also valid in the next RPC.
 * `serve` serves the link that it comes on. Throws the fault for its status.
 */
export async function answerUnary(call: ServerCall, serve: (link: Link) => Promise<void>, options: GrpcListenOptions): Promise<void> {
  const rpc = unaryRpcs.find(({ name }) => call.path === `${PROTO}${name}`);
  if (rpc === undefined) throw new Fault("unknown-method", `unknown method: ${call.path}`);
  // A unary client cannot say what it knows beyond the base.
  const codec = new MessageCodec(limitsOf(options.limits));
  codec.full = false;
  const [request] = codec.decode(withPayload(ID, { number: rpc.request, bytes: await onlyMessage(call) }));
  codec.full = false;
  if (request?.kind === "bad") throw request.fault;
  if (request?.kind !== "request") throw new Fault("invalid-request", "the message is not a request");
  const modern = options.eras?.includes("modern") ?? true;
  const answer = await asked(
    call,
    serve,
    modern ? modernRequest(request.method, request.params) : [...opening(request.params["_meta"]), request],
  );
  if ("error" in answer) throw answer.fault ?? fromRpcError(answer.error);
  if (!("result" in answer)) throw new Fault("internal", "the call was not answered");
  const result = request.method === "initialize" && modern ? initialized(answer.result) : answer.result;
  const bytes = codec.encode({ jsonrpc: "2.0", id: ID, result });
  const { number, bytes: body } = payloadIn(bytes as Uint8Array);
  if (number !== rpc.response) {
    const [said] = codec.decode(bytes as Uint8Array);
    throw said?.kind === "error" ? fromRpcError(said.error) : new Fault("internal", "the answer cannot be carried");
  }
  void call.send(body);
}

/** A session for one call, where only legacy clients are served. */
const opening = (_meta: unknown): readonly Incoming[] => [
  {
    kind: "request",
    id: HANDSHAKE,
    method: "initialize",
    params: { protocolVersion: legacyVersions[0], capabilities: {}, clientInfo: { name: "proto-mcp", version: "1.0.0" }, _meta },
  },
  { kind: "notification", method: "notifications/initialized", params: noParams },
];

function modernRequest(method: string, params: JsonObject): readonly Incoming[] {
  const own = isObject(params["_meta"]) ? params["_meta"] : {};
  const info = isObject(params["clientInfo"]) ? params["clientInfo"] : { name: "proto-mcp", version: "1.0.0" };
  const _meta = { ...own, [meta.protocolVersion]: modernVersions[0], [meta.clientInfo]: info, [meta.clientCapabilities]: {} };
  if (method === "initialize") return [{ kind: "request", id: ID, method: "server/discover", params: { _meta } }];
  return [{ kind: "request", id: ID, method, params: { ...params, _meta } }];
}

/** A result of `server/discover` in the form of `initialize`. */
function initialized({ capabilities, instructions, serverInfo, _meta }: JsonObject): JsonObject {
  const said = isObject(_meta) ? (_meta[meta.serverInfo] ?? serverInfo) : serverInfo;
  return {
    protocolVersion: legacyVersions[0],
    capabilities: capabilities ?? {},
    serverInfo: said,
    ...(instructions === undefined ? undefined : { instructions }),
  };
}

/** Gives the requests to a link. Resolves with the answer to the one whose id is `ID`. */
function asked(call: ServerCall, serve: (link: Link) => Promise<void>, requests: readonly Incoming[]): Promise<OutgoingMessage> {
  return new Promise((resolve, reject) => {
    let over: () => void = () => {};
    const ended = new Promise<void>((done) => {
      over = done;
    });
    const unhook = call.cancel.on(() => {
      reject(call.cancel.reason);
      over();
    });
    async function* incoming(): AsyncGenerator<readonly Incoming[]> {
      yield requests;
      await ended;
    }
    const link: Link = {
      ...sharedStream,
      incoming: incoming(),
      backlog: 0,
      send(message) {
        const single = message as OutgoingMessage;
        if (!("method" in single) && single.id === ID) {
          resolve(single);
          over();
        }
        return hasRoom;
      },
      close() {
        over();
        return hasRoom;
      },
    };
    void serve(link)
      .then(() => reject(new Fault("unavailable", "the call was not answered", { data: { reason: "closing" } })), reject)
      .finally(unhook);
  });
}
