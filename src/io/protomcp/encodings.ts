import { ENCODINGS, loadProtoJson, type MessageCodec, type ProtoEncoding, protoJsonIn } from "../../codec/bufmcpv1/index.js";
import type { Incoming, IncomingPart, Link } from "../../codec/index.js";

type Batch = readonly (Incoming | IncomingPart)[];

/**
 * A link whose messages may be proto JSON, told by their first byte. What reads that is loaded with the first such message, or when the
 * client prefers it. The peer is written to in the first known encoding that it offers, or else in that of its own messages.
 */
export function eitherEncoding(link: Link, codec: MessageCodec): Link {
  return {
    ...link,
    incoming: decoded(link.incoming, codec),
    get backlog() {
      return link.backlog;
    },
  };
}

async function* decoded(incoming: Link["incoming"], codec: MessageCodec): AsyncGenerator<Batch> {
  for await (const batch of incoming) {
    const messages: (Incoming | IncomingPart)[] = [];
    let came: ProtoEncoding | undefined;
    for (const message of batch) {
      const text = protoJsonIn(message);
      came = text === undefined ? "protobuf" : "json";
      if (text === undefined) messages.push(message);
      else messages.push(...codec.decodeJson(text, await loadProtoJson()));
    }
    const wanted = codec.offered?.find((name) => ENCODINGS.some((each) => each === name)) ?? came;
    if (wanted !== undefined) codec.json = wanted === "json" ? await loadProtoJson() : undefined;
    yield messages;
  }
}
