import type { EventEmitter } from "node:events";
import * as grpc from "@grpc/grpc-js";
import { at, type Exact, exact, stringAt, textOf } from "../json.js";
import { Asked, coder, down, SERVICE, twins, up } from "./grpc-coding.js";
import { fromClient, toClient } from "./grpc-frames.js";
import type { Plain } from "./proto.js";
import { noteMessage, type Rpc, requestParams, resultMessages, rpcs } from "./rpcs.js";
import type { Era, RawServer, Take } from "./types.js";

type Answer = (message: Exact) => void;

function coded(path: string, input: object, output: object, streams: readonly [boolean, boolean]): grpc.MethodDefinition<Plain, Plain> {
  const [from, to] = [input, output] as readonly ReturnType<typeof coder>[];
  if (from === undefined || to === undefined) throw new TypeError(path);
  return {
    path,
    requestStream: streams[0],
    responseStream: streams[1],
    requestSerialize: from.write,
    requestDeserialize: from.read,
    responseSerialize: to.write,
    responseDeserialize: to.read,
  };
}

/** `mcp.v1` by grpc-js: `Session`, and the RPCs that a relay makes. It says that it reads twins. */
export async function grpcServer(_era: Era, take: Take, wanted = 0, options: grpc.ServerOptions = {}): Promise<RawServer> {
  const server = new grpc.Server(options);
  const asked = new Asked();
  const calls = new Map<string, Answer>();
  let current: grpc.ServerDuplexStream<Plain, Plain> | undefined;
  let count = 0;
  const begin = (rpc: Rpc, call: Pick<EventEmitter, "on">, params: Exact, answer: Answer): void => {
    const id = `"rpc ${++count}"`;
    calls.set(id, answer);
    call.on("cancelled", () => take(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${id}}}`));
    take(`{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(rpc.method)},"params":${textOf(params)}}`);
  };
  const definition: Record<string, grpc.MethodDefinition<Plain, Plain>> = {};
  const handlers: grpc.UntypedServiceImplementation = {};
  for (const rpc of rpcs) {
    const streams = rpc.answer !== "one";
    definition[rpc.path] = coded(rpc.path, coder(rpc.input), coder(rpc.output), [false, streams]);
    handlers[rpc.path] = streams
      ? (call: grpc.ServerWritableStream<Plain, Plain>) => {
          call.sendMetadata(twins());
          begin(rpc, call, requestParams(rpc, call.request), (message) => answerStream(rpc, call, message));
        }
      : (call: grpc.ServerUnaryCall<Plain, Plain>, done: grpc.sendUnaryData<Plain>) => {
          call.sendMetadata(twins());
          begin(rpc, call, requestParams(rpc, call.request), (message) => {
            if (at(message, "method") !== undefined) return;
            const error = at(message, "error");
            if (error === undefined) done(null, resultMessages(rpc, resultOf(message))[0] as Plain);
            else done(statusOf(error));
          });
        };
  }
  const bytes = { write: (value: unknown): Buffer => value as Buffer, read: (value: Buffer): unknown => value };
  server.addService(
    {
      ...definition,
      Ping: coded(`${SERVICE}Ping`, bytes, bytes, [false, false]),
      Session: coded(`${SERVICE}Session`, up, down, [true, true]),
    },
    {
      ...handlers,
      Ping(call: grpc.ServerUnaryCall<Buffer, Buffer>, done: grpc.sendUnaryData<Buffer>) {
        call.sendMetadata(twins());
        done(null, Buffer.alloc(0));
      },
      Session(stream: grpc.ServerDuplexStream<Plain, Plain>) {
        current = stream;
        stream.sendMetadata(twins());
        stream.on("data", (message: Plain) => {
          const text = fromClient(message);
          asked.note(text);
          take(text);
        });
        stream.on("error", () => {});
        stream.on("end", () => stream.end());
      },
    },
  );
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync(`127.0.0.1:${wanted}`, grpc.ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    ),
  );
  return {
    address: `grpc://127.0.0.1:${port}`,
    send(text, call) {
      const answer = call === undefined ? undefined : calls.get(call);
      const message = exact(text);
      // A question has no place in the answer of an RPC: it goes on the stream.
      if (answer !== undefined && (at(message, "method") === undefined || at(message, "id") === undefined)) return answer(message);
      for (const part of toClient(text, asked.of)) current?.write(part);
    },
    close: async () => server.forceShutdown(),
  };
}

function resultOf(message: Exact): (readonly [string, Exact])[] {
  const result = at(message, "result");
  return result?.kind === "object" ? [...result.members] : [];
}

function answerStream(rpc: Rpc, call: grpc.ServerWritableStream<Plain, Plain>, message: Exact): void {
  const error = at(message, "error");
  if (at(message, "method") !== undefined) {
    const note = noteMessage(rpc, message);
    if (note !== undefined) call.write(note);
  } else if (error === undefined) {
    for (const part of resultMessages(rpc, resultOf(message))) call.write(part);
    call.end();
  } else call.emit("error", statusOf(error));
}

/** An error as the status of an RPC, with the trailers that docs/wires/grpc.md names. */
function statusOf(error: Exact): grpc.ServiceError {
  const metadata = new grpc.Metadata();
  const [code, data] = [at(error, "code"), at(error, "data")];
  if (code !== undefined) metadata.set("mcp-error-code", textOf(code));
  if (data !== undefined) metadata.set("mcp-error-data-bin", Buffer.from(textOf(data)));
  return Object.assign(new Error(), { code: grpc.status.UNKNOWN, details: stringAt(error, "message") ?? "", metadata });
}
