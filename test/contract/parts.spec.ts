import { contractService } from "../../src/contract/index.js";
import { clientCapabilities, createClient } from "../../src/core/index.js";
import { dialLink, type Link, type LinkTraits, serveLink } from "../../src/era/index.js";
import { linkPair } from "../../src/wires/memory/index.js";
import { keepsContract, pairs } from "./pairs.js";

const PART = "test/part";
const traits: LinkTraits = { ownStream: () => false, inParts: () => true, bytes: true };

/** The serving end of a link that carries answers piece by piece. */
function speaking(link: Link): Link {
  return {
    ...link,
    traits,
    part: (id, part) => link.send({ jsonrpc: "2.0", method: PART, params: { id, part } }),
    get backlog() {
      return link.backlog;
    },
  };
}

function hearing(link: Link): Link {
  return {
    ...link,
    traits,
    incoming: (async function* () {
      for await (const batch of link.incoming)
        yield batch.map(
          (message) =>
            (message.kind === "notification" && message.method === PART ? { kind: "part", ...message.params } : message) as typeof message,
        );
    })(),
    get backlog() {
      return link.backlog;
    },
  };
}

for (const { name, era, eras } of pairs)
  keepsContract(`a link of parts: ${name}`, {
    async open(options = {}) {
      const [mine, theirs] = linkPair();
      void serveLink(contractService(), speaking(theirs), { eras }).catch(() => {});
      const client = { info: { name: "t", version: "1" }, capabilities: clientCapabilities(options, "legacy") };
      return createClient(await dialLink(hearing(mine), { era, client }), options);
    },
  });
