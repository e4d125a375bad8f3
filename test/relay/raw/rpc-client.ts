import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { at, type Exact, exact, stringAt, textOf } from "../json.js";
import { encoded } from "./http-client.js";
import { object, type Plain } from "./proto.js";
import { AnswerReader, type Rpc, requestMessage, rpcFor } from "./rpcs.js";
import type { Era, RawClient, Take } from "./types.js";

export interface Failed {
  readonly message: string;
  /** Headers or trailers. */
  readonly get: (name: string) => string | undefined;
}

/** How an RPC is made: by grpc-js, or as Connect over HTTP. `take` says whether more is wanted. */
export interface RpcCarrier {
  call(
    rpc: Rpc,
    bytes: Uint8Array,
    metadata: Readonly<Record<string, string>>,
    take: (bytes: Uint8Array) => boolean,
  ): Promise<{ readonly session?: string | undefined; readonly failed?: Failed }>;
  close(): Promise<void>;
}

/** A client that makes an RPC of each request. What has no RPC it cannot say. */
export function rpcClient(carrier: RpcCarrier, era: Era, take: Take): RawClient {
  let session: string | undefined;
  return {
    send(text) {
      const message = exact(text);
      const id = at(message, "id");
      const rpc = rpcFor(text);
      if (rpc === undefined || id === undefined) return;
      const token = at(message, "params", "_meta", "progressToken");
      const reader = new AnswerReader(rpc, token);
      const params = at(message, "params");
      const bytes = toBinary(rpc.input, requestMessage(rpc, params) as never);
      const metadata = {
        "anywire-twins": "1",
        ...(session !== undefined && { "mcp-session-id": session }),
        ...(era === "modern" && mirrored(rpc, params)),
      };
      const heard = (part: Uint8Array): boolean => {
        const note = reader.take(fromBinary(rpc.output, part) as unknown as Plain);
        if (note !== undefined)
          take(written([["method", { kind: "string", value: note[0] }], ...(note[1] === undefined ? [] : [["params", note[1]] as const])]));
        return !reader.ended;
      };
      void carrier.call(rpc, bytes, metadata, heard).then(
        ({ session: begun, failed }) => {
          session ??= begun;
          const error = reader.error ?? (failed === undefined ? undefined : errorOf(failed));
          take(written([["id", id], error === undefined ? ["result", object(reader.whole)] : ["error", error]]));
          // A client that was closed hears nothing of its calls.
        },
        () => {},
      );
    },
    close: () => carrier.close(),
  };
}

function mirrored(rpc: Rpc, params: Exact | undefined): Record<string, string> {
  const name = params && (stringAt(params, "name") ?? stringAt(params, "uri"));
  return { "mcp-method": rpc.method, "mcp-protocol-version": "2026-07-28", ...(name !== undefined && { "mcp-name": encoded(name) }) };
}

function written(members: (readonly [string, Exact])[]): string {
  return textOf(object([["jsonrpc", { kind: "string", value: "2.0" }], ...members]));
}

function errorOf({ message, get }: Failed): Exact {
  const data = get("mcp-error-data-bin");
  return object([
    ["code", exact(get("mcp-error-code") ?? "0")],
    ["message", { kind: "string", value: message }],
    ...(data === undefined ? [] : ([["data", exact(Buffer.from(data, "base64").toString("utf8"))]] as const)),
  ]);
}
