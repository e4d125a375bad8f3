import type { Link, LinkMessage } from "../../codec/index.js";

/** The link with other incoming messages. */
export function withIncoming(link: Link, incoming: Link["incoming"]): Link {
  return {
    ...link,
    incoming,
    get backlog() {
      return link.backlog;
    },
  };
}

/** `rest`, then the batches that are still to come. */
export async function* continued(
  rest: readonly LinkMessage[],
  batches: AsyncIterator<readonly LinkMessage[], unknown>,
): AsyncGenerator<readonly LinkMessage[]> {
  if (rest.length > 0) yield rest;
  yield* { [Symbol.asyncIterator]: () => batches };
}
