import type { RequestOptions as NodeOptions } from "node:https";
import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import { createTransport } from "@connectrpc/connect/protocol-connect";
import { createNodeHttpClient } from "@connectrpc/connect-node";
import { TooHeavy, weighDescriptors } from "../descriptor-weight.js";
import { SET_BYTES } from "./canonical.js";

/** Bytes of an answer that has no descriptors: an error, or a commit. */
const OTHER_BYTES = 64 * 1024;

/** Connect over HTTP/1.1. Answers are not compressed, so that they can be weighed before they are read. */
export function registryTransport(baseUrl: string, nodeOptions: NodeOptions): Transport {
  const send = createNodeHttpClient({ httpVersion: "1.1", nodeOptions });
  return createTransport({
    baseUrl,
    async httpClient(request) {
      const answer = await send(request);
      const hasSet = answer.status === 200 && /\/Get(FileDescriptorSet|Image)$/.test(request.url);
      return { ...answer, body: hasSet ? weighed(answer.body) : bounded(answer.body, OTHER_BYTES) };
    },
    useBinaryFormat: true,
    interceptors: [],
    sendCompression: null,
    acceptCompression: [],
    compressMinBytes: Number.MAX_SAFE_INTEGER,
    readMaxBytes: SET_BYTES,
    writeMaxBytes: SET_BYTES,
  });
}

async function* bounded(body: AsyncIterable<Uint8Array>, most: number): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > most) throw new ConnectError(`the answer has more than ${most} bytes`, Code.ResourceExhausted);
    yield chunk;
  }
}

/** All three APIs have the set in field 1 of the answer. */
async function* weighed(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of bounded(body, SET_BYTES)) chunks.push(chunk);
  const whole = Buffer.concat(chunks);
  try {
    weighDescriptors(whole, "answer");
  } catch (error) {
    throw new ConnectError((error as Error).message, error instanceof TooHeavy ? Code.ResourceExhausted : Code.Internal);
  }
  yield whole;
}
