import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { create, createFileRegistry, type DescMessage, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { buf } from "../mapping/buf.js";

/** The text of proto-mcp 1.0 alone, in a runtime that knows nothing of Anywire's tables. */
const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, buf("build", "test/fixtures/buf-mcp/base", "-o", "-")));
export const envelope = registry.getMessage("buf.mcp.v1.MCPMessage") as DescMessage;

export interface Payload {
  readonly case: string;
  readonly value: Record<string, unknown>;
}
/** An MCPMessage as the runtime has it. */
export type Envelope = Message & { readonly id: bigint; readonly payload: Payload };

export function message(id: bigint, name: string, value: object): Uint8Array {
  return toBinary(envelope, create(envelope, { id, payload: { case: name, value } } as never));
}

export function framed(bytes: Uint8Array): Buffer {
  const prefix = Buffer.alloc(4);
  prefix.writeUInt32BE(bytes.length);
  return Buffer.concat([prefix, bytes]);
}

export function read(bytes: Uint8Array): Envelope {
  return fromBinary(envelope, bytes) as Envelope;
}

/** Messages out of a stream of frames. */
export async function* frames<T = Envelope>(socket: Socket, as: (bytes: Uint8Array) => T = read as never): AsyncGenerator<T> {
  let held = Buffer.alloc(0);
  for await (const chunk of socket) {
    held = Buffer.concat([held, chunk as Buffer]);
    while (held.length >= 4 && held.length >= 4 + held.readUInt32BE()) {
      const end = 4 + held.readUInt32BE();
      yield as(held.subarray(4, end));
      held = held.subarray(end);
    }
  }
}

export interface BaseClient {
  readonly socket: Socket;
  send(id: bigint, name: string, value: object): void;
  next(): Promise<Envelope | undefined>;
}

/** A client of the base on a TCP address, which has not said anything yet. */
export async function baseClient(address: string): Promise<BaseClient> {
  const { hostname, port } = new URL(address.replace(/^[^:]*:/, "http:"));
  const socket = connect(Number(port), hostname);
  await once(socket, "connect");
  let received: AsyncGenerator<Envelope> | undefined;
  return {
    socket,
    send: (id, name, value) => void socket.write(framed(message(id, name, value))),
    next: async () => {
      received ??= frames(socket);
      const step = await received.next();
      return step.done === true ? undefined : step.value;
    },
  };
}

export const initialize = { protocolVersion: "1.0.0", capabilities: { encodings: ["protobuf"] }, metadata: { name: "raw", version: "7" } };

/** A server of the base: answers each request with what `answer` makes of it. */
export async function baseServer(
  answer: (request: Envelope) => Payload | undefined,
): Promise<{ readonly server: Server; readonly address: string }> {
  const server = createServer(async (socket) => {
    socket.on("error", () => {});
    for await (const request of frames(socket)) {
      const said = answer(request);
      if (said !== undefined) socket.write(framed(message(request.id, said.case, said.value)));
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { server, address: `proto+tcp://127.0.0.1:${(server.address() as { port: number }).port}` };
}
