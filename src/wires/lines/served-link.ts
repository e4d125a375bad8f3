import type { Socket } from "node:net";
import type { LinkMessage } from "../../codec/index.js";
import type { Link } from "../../era/index.js";
import { endThenDestroy, lineLink, type ServedSocketOptions, servedSocketLink } from "../../io/index.js";

const NEWLINE = 0x0a;

/** A client's connection as a link of lines. */
export function servedLineLink(socket: Socket, options: ServedSocketOptions): Link {
  const { messageBytes, depth } = options.limits ?? {};
  return servedSocketLink(
    socket,
    {
      open(onPartial) {
        const link = lineLink(socket, socket, { messageBytes, depth, onClose: () => endThenDestroy(socket) });
        let bytes = 0;
        socket.on("data", (chunk: Buffer) => {
          const newline = chunk.lastIndexOf(NEWLINE);
          bytes = newline < 0 ? bytes + chunk.length : chunk.length - newline - 1;
          onPartial(bytes, newline >= 0);
        });
        return link;
      },
      sift: onlyJson,
    },
    options,
  );
}

/** Ends a link whose client sends a line that is not JSON, because that is no MCP client. */
async function* onlyJson(incoming: Link["incoming"]): AsyncGenerator<readonly LinkMessage[]> {
  for await (const batch of incoming) {
    const at = batch.findIndex((message) => message.kind === "bad" && message.fault.code === "parse");
    yield at < 0 ? batch : batch.slice(0, at);
    const bad = batch[at];
    if (bad?.kind === "bad") throw bad.fault;
  }
}
