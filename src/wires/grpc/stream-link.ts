import type { Incoming, Outgoing } from "../../codec/index.js";
import { Fault } from "../../core/index.js";
import { hasRoom, type Link, sharedStream } from "../../era/index.js";
import type { ReceivedMessages } from "../../io/index.js";

/** An RPC that streams messages in both directions. */
export interface MessageStream {
  readonly messages: ReceivedMessages;
  readonly backlog: number;
  send(message: Uint8Array): Promise<void> | undefined;
}

/** How JSON-RPC messages are written in the messages of an RPC. */
export interface StreamCodec {
  /** The bytes of a message; undefined if the other side is not told of it. */
  encode(message: Outgoing): Uint8Array | undefined;
  decode(bytes: Uint8Array): readonly Incoming[];
}

/** The stream of an RPC as a link. `close` ends this side. */
export function streamLink(stream: MessageStream, codec: StreamCodec, close: (reason?: Fault) => void): Link {
  let closed: Fault | undefined;
  return {
    ...sharedStream,
    incoming: received(stream.messages, codec),
    get backlog() {
      return stream.backlog;
    },
    send(message) {
      if (closed !== undefined) return Promise.reject(closed);
      try {
        const bytes = codec.encode(message);
        return (bytes === undefined ? undefined : stream.send(bytes)) ?? hasRoom;
      } catch (error) {
        return Promise.reject(error);
      }
    },
    close(reason) {
      if (closed === undefined) {
        closed = reason ?? new Fault("unavailable", "the link was closed", { data: { reason: "closed" } });
        close(reason);
      }
      return hasRoom;
    },
  };
}

async function* received(messages: ReceivedMessages, codec: StreamCodec): AsyncGenerator<readonly Incoming[]> {
  for await (const batch of messages) yield batch.flatMap((bytes) => codec.decode(bytes));
}
