import type { RequestOptions as NodeOptions } from "node:https";
import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import { createTransport } from "@connectrpc/connect/protocol-connect";
import { createNodeHttpClient } from "@connectrpc/connect-node";
import { schemaLimits } from "../../core/index.js";
import { TooHeavy, weighDescriptors } from "../descriptor-weight.js";

/** Connect over HTTP/1.1. Answers are not compressed, so that they can be weighed before they are read. */
export function registryTransport(baseUrl: string, nodeOptions: NodeOptions): Transport {
  const send = createNodeHttpClient({ httpVersion: "1.1", nodeOptions });
  return createTransport({
    baseUrl,
    async httpClient(request) {
      const answer = await send(request);
      const hasSet = answer.status === 200 && /\/Get(FileDescriptorSet|Image)$/.test(request.url);
      const declared = Number(answer.header.get("content-length"));
      // Connect would refuse a declared length by itself, without the name of the limit.
      answer.header.delete("content-length");
      const body = bounded(answer.body, declared, hasSet ? { limit: "descriptorBytes" } : { limit: "registryAnswerBytes" });
      return { ...answer, body: hasSet ? weighed(body) : body };
    },
    useBinaryFormat: true,
    interceptors: [],
    sendCompression: null,
    acceptCompression: [],
    compressMinBytes: Number.MAX_SAFE_INTEGER,
    readMaxBytes: schemaLimits.descriptorBytes,
    writeMaxBytes: schemaLimits.descriptorBytes,
  });
}

type Body = AsyncIterable<Uint8Array>;

async function* bounded(body: Body, declared: number, { limit }: Pick<TooHeavy, "limit">): AsyncGenerator<Uint8Array> {
  const most = schemaLimits[limit];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > most || declared > most) throw refused(new TooHeavy(`the answer has more than ${most} bytes`, { limit }));
    yield chunk;
  }
}

/** All three APIs have the set in field 1 of the answer. */
async function* weighed(body: Body): AsyncGenerator<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  const whole = Buffer.concat(chunks);
  try {
    weighDescriptors(whole, "answer");
  } catch (error) {
    throw refused(error as Error);
  }
  yield whole;
}

function refused(error: Error): ConnectError {
  const code = error instanceof TooHeavy ? Code.ResourceExhausted : Code.Internal;
  return new ConnectError(error.message, code, undefined, undefined, error);
}
