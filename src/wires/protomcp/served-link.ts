import type { Socket } from "node:net";
import { MessageCodec } from "../../codec/bufmcpv1/index.js";
import type { Link } from "../../codec/index.js";
import { limitsOf } from "../../core/index.js";
import { answersProbes, endThenDestroy, lineLink, type ServedSocketOptions, servedSocketLink } from "../../io/index.js";
import { delimited } from "./framing.js";

/** A client's connection as a link of length-delimited messages. */
export function servedLink(socket: Socket, options: ServedSocketOptions): Link {
  const { messageBytes, depth } = limitsOf(options.limits);
  const codec = new MessageCodec({ depth });
  const link = servedSocketLink(
    socket,
    {
      open: (onPartial) =>
        lineLink(socket, socket, { framing: delimited(codec, { onPartial }), messageBytes, depth, onClose: () => endThenDestroy(socket) }),
    },
    options,
  );
  return answersProbes(link, codec);
}
