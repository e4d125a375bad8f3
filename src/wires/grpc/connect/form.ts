import type { DescMethod } from "@bufbuild/protobuf";

/** How the messages of a request are written, by its content type. */
export interface RequestForm {
  /** Each message has its length before it. */
  readonly enveloped: boolean;
  /** Protobuf, and not JSON. */
  readonly binary: boolean;
  /** All of it is base64. */
  readonly text: boolean;
  /** The header that says how it is compressed. */
  readonly encodingHeader: string;
}

export function formOf(type: string): RequestForm {
  const web = /^application\/grpc-web/i.test(type);
  const stream = /^application\/connect\+/i.test(type);
  return {
    enveloped: web || stream,
    binary: !/^application\/([a-z-]+\+)?json/i.test(type),
    text: /^application\/grpc-web-text/i.test(type),
    encodingHeader: web ? "grpc-encoding" : stream ? "connect-content-encoding" : "content-encoding",
  };
}

/** What Connect is given to read in place of the messages: one that is empty for a call that takes one, none for a stream. */
export async function* standIn({ enveloped, binary }: RequestForm, { methodKind }: DescMethod): AsyncGenerator<Uint8Array> {
  const empty = Buffer.from(binary ? "" : "{}");
  if (!enveloped) yield empty;
  else if (methodKind === "unary" || methodKind === "server_streaming")
    yield Buffer.concat([Buffer.from([0, 0, 0, 0, empty.length]), empty]);
}
