import type { JsonObject, Limits } from "../../../core/index.js";
import type { Link } from "../../../era/index.js";
import type { Channel, ClientCall, Metadata } from "../../../io/index.js";
import { withMirror } from "../mirror.js";
import { TUNNELS } from "../names.js";
import { streamLink } from "../stream-link.js";
import { checkTunnelPath, tunnelCodec } from "./codec.js";

/** A tunnel stream as a link. It opens with the first message, whose metadata is for routers. */
export function dialTunnel(channel: Channel, metadata: Metadata, limits: Limits, path: string = TUNNELS[0]): Link {
  checkTunnelPath(path);
  let call: ClientCall | undefined;
  const open = (method: string, params: JsonObject): ClientCall => {
    call = channel.call(path, { metadata: withMirror(metadata, method, params, undefined) });
    started(call);
    return call;
  };
  let started: (call: ClientCall) => void = () => {};
  const opened = new Promise<ClientCall>((resolve) => {
    started = resolve;
  });
  const stream = {
    messages: (async function* () {
      yield* (await opened).messages;
    })(),
    get backlog() {
      return call?.backlog ?? 0;
    },
    send: (message: Uint8Array) => call?.send(message),
  };
  const link = streamLink(stream, tunnelCodec(limits), () => {
    call?.done();
    call?.cancel();
  });
  return {
    ...link,
    get backlog() {
      return link.backlog;
    },
    send(message) {
      if (call === undefined && !Array.isArray(message) && "method" in message) open(message.method, message.params ?? {});
      return link.send(message);
    },
  };
}
