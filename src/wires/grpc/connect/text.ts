import type { UniversalServerRequest, UniversalServerResponse } from "@connectrpc/connect/protocol";

type Bytes = AsyncIterable<Uint8Array>;
type Handler = (request: UniversalServerRequest) => Promise<UniversalServerResponse>;

const TEXT = /^application\/grpc-web-text/i;

/**
 * Answers in gRPC-Web's text form, which is base64 of the binary form, if the request used it: for clients that cannot read bytes as they
 * arrive.
 */
export function withText(handler: Handler): Handler {
  return async (request) => {
    const type = request.header.get("content-type") ?? "";
    if (!TEXT.test(type)) return handler(request);
    const header = new Headers(request.header);
    header.set("content-type", type.replace(TEXT, "application/grpc-web"));
    const response = await handler({ ...request, header });
    const answered = new Headers(response.header);
    answered.set("content-type", (answered.get("content-type") ?? "").replace("grpc-web", "grpc-web-text"));
    return { ...response, header: answered, ...(response.body === undefined ? undefined : { body: encoded(response.body) }) };
  };
}

/** Returns the bytes of each piece of text. */
export function textDecoder(): (chunk: Uint8Array) => readonly Uint8Array[] {
  let carry = "";
  return (chunk) => {
    const text = carry + Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString("latin1");
    const whole = text.length - (text.length % 4);
    carry = text.slice(whole);
    // A sender may pad each piece, so padding is not the end.
    return Array.from(text.slice(0, whole).matchAll(/[^=]+=*/g), ([piece]) => Buffer.from(piece, "base64"));
  };
}

async function* encoded(body: Bytes): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) yield Buffer.from(Buffer.from(chunk).toString("base64"), "latin1");
}
