import { ENCODINGS, loadProtoJson, type MessageCodec, type ProtoEncoding, protoJsonIn } from "../../codec/bufmcpv1/index.js";
import type { Link, LinkMessage } from "../../codec/index.js";
import { withIncoming } from "./incoming.js";

/**
 * A link whose messages may be proto JSON, told by their first byte. What reads that is loaded with the first such message, or when the
 * client prefers it. The peer is written to in the first known encoding that it offers, or else in that of its own messages.
 */
export function eitherEncoding(link: Link, codec: MessageCodec): Link {
  return withIncoming(link, decoded(link.incoming, codec));
}

async function* decoded(incoming: Link["incoming"], codec: MessageCodec): AsyncGenerator<readonly LinkMessage[]> {
  for await (const batch of incoming) {
    const last = batch.at(-1);
    const came: ProtoEncoding | undefined = last === undefined ? undefined : protoJsonIn(last) === undefined ? "protobuf" : "json";
    const messages = batch.some((message) => protoJsonIn(message) !== undefined) ? await readIn(batch, codec) : batch;
    const wanted = codec.offered?.find((name) => ENCODINGS.some((each) => each === name)) ?? came;
    if (wanted !== undefined) codec.json = wanted === "json" ? await loadProtoJson() : undefined;
    yield messages;
  }
}

async function readIn(batch: readonly LinkMessage[], codec: MessageCodec): Promise<readonly LinkMessage[]> {
  const json = await loadProtoJson();
  return batch.flatMap((message): readonly LinkMessage[] => {
    const text = protoJsonIn(message);
    return text === undefined ? [message] : codec.decodeJson(text, json);
  });
}
