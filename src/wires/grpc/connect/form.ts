import type { DescMethod } from "@bufbuild/protobuf";

/** The form of a request's messages, by its content type. */
export interface RequestForm {
  /** Whether each message follows its length. */
  readonly enveloped: boolean;
  /** Whether messages are protobuf; otherwise they are JSON. */
  readonly binary: boolean;
  /** Whether the body is base64. */
  readonly text: boolean;
  /** The header that names the compression. */
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

/** What Connect reads in place of the messages: an empty message for a call that takes one, none for a stream. */
export async function* standIn({ enveloped, binary }: RequestForm, { methodKind }: DescMethod): AsyncGenerator<Uint8Array> {
  const empty = Buffer.from(binary ? "" : "{}");
  if (!enveloped) yield empty;
  else if (methodKind === "unary" || methodKind === "server_streaming")
    yield Buffer.concat([Buffer.from([0, 0, 0, 0, empty.length]), empty]);
}
