import { Fault } from "../../../../src/core/index.js";
import {
  type Channel,
  grpcChannel,
  grpcServer,
  type Metadata,
  port as openPort,
  type ServerCall,
  type Status,
} from "../../../../src/io/index.js";
import { type Call, type CallOptions, type Client, type End, HARD_MESSAGE, type Server } from "./types.js";

/** What a server that is not ours expects around the bytes. */
export interface Wrap {
  wrap(message: Uint8Array): Uint8Array;
  unwrap(message: Uint8Array): Uint8Array;
}

const plain: Wrap = { wrap: (message) => message, unwrap: (message) => message };

export function ourClient(port: number, { wrap, unwrap }: Wrap = plain, http2: "own" | "node" = "own"): Client {
  const channel: Channel = grpcChannel([{ host: "127.0.0.1", port }], { http2 });
  return {
    name: "ours",
    call(method, { metadata = {}, timeoutMs, gzip }: CallOptions = {}): Call {
      const call = channel.call(`/test.Echo/${method}`, {
        metadata,
        gzip,
        ...(timeoutMs !== undefined && { deadline: Date.now() + timeoutMs }),
      });
      return {
        send: (message) => void call.send(wrap(message)),
        done: () => call.done(),
        cancel: () => call.cancel(),
        messages: (async function* () {
          try {
            for await (const batch of call.messages) for (const message of batch) yield unwrap(message);
          } catch (error) {
            if (!(error instanceof Fault)) throw error;
          }
        })(),
        end: endOf(call.status, call.headers),
      };
    },
    close: () => channel.close(),
  };
}

async function endOf(ended: Promise<Status>, begun: Promise<Metadata>): Promise<End> {
  const { code, message = "", metadata = {} } = await ended;
  return { code, message, headers: lists(await begun.catch(() => ({}))), trailers: lists(metadata) };
}

function lists(metadata: Metadata): Record<string, readonly string[]> {
  return Object.fromEntries(
    Object.entries(metadata).map(([name, value]) => [
      name,
      [value].flat().map((each) => (name.endsWith("-bin") ? each.replace(/=+$/, "") : each)),
    ]),
  );
}

export async function ourServer({ wrap, unwrap }: Wrap = plain): Promise<Server> {
  const hanging = { began: 0, cancelled: 0 };
  const server = grpcServer(
    async (call) => {
      const answer = answers[call.path.replace("/test.Echo/", "")];
      if (answer === undefined) throw new Fault("unknown-method", `there is no ${call.path}`);
      await answer(call, hanging, { wrap, unwrap });
    },
    { gzip: true },
  );
  const host = await openPort({ host: "127.0.0.1", port: 0 }, [
    { wire: "grpc", request: (_, response) => response.end("plain"), rpc: (stream, headers, raw) => server.stream(stream, headers, raw) },
  ]);
  return {
    name: "ours",
    port: host.port,
    hanging,
    close: async () => {
      await server.close(0);
      await host.close();
    },
  };
}

async function all(call: ServerCall): Promise<Uint8Array[]> {
  const messages: Uint8Array[] = [];
  for await (const batch of call.messages) messages.push(...batch);
  return messages;
}

function said(call: ServerCall): Metadata {
  return Object.fromEntries(Object.entries(call.metadata).filter(([name]) => name.startsWith("x-say")));
}

type Answer = (call: ServerCall, hanging: { began: number; cancelled: number }, wrap: Wrap) => Promise<void> | void;

const answers: Readonly<Record<string, Answer>> = {
  async Same(call) {
    const [message] = await all(call);
    call.begin(said(call));
    call.send(message as Uint8Array);
    call.end({ code: 0, metadata: said(call) });
  },
  Fail: (call) => call.end({ code: 9, message: HARD_MESSAGE, metadata: { "x-why-bin": "AAEC" } }),
  async Join(call, _, { wrap, unwrap }) {
    call.send(wrap(Buffer.concat((await all(call)).map(unwrap))));
    call.end({ code: 0 });
  },
  async Count(call, _, { wrap, unwrap }) {
    const [message] = await all(call);
    for (let at = 0; at < Number(Buffer.from(unwrap(message as Uint8Array)).toString()); at++)
      await call.send(wrap(Buffer.from(String(at))));
    call.end({ code: 0 });
  },
  async Chat(call) {
    call.begin();
    for await (const batch of call.messages) for (const message of batch) await call.send(message);
    call.end({ code: 0 });
  },
  Hang(call, hanging) {
    hanging.began++;
    call.cancel.on(() => hanging.cancelled++);
    call.begin();
  },
};
