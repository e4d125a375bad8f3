import { connect, type Era, serve } from "../../src/api/index.js";
import { contract, contractService, type Subject } from "../../src/contract/index.js";
import { contractChild, type Opened, openHop, type WireName, wireOf } from "./wires.js";

/** The wires from the client to the server, with a bridge between each two, and the era of each end. */
export interface Passage {
  readonly hops: readonly [WireName, WireName, ...WireName[]];
  readonly client: Era;
  readonly server: Era;
}

/** Milliseconds that one check may take. */
const CHECK_MS = 60_000;

async function openServer(wire: WireName, era: Era): Promise<Opened> {
  if (wireOf(wire).speaks !== undefined) return { address: contractChild(wire, [era]), close: async () => {} };
  return serve(contractService(), wireOf(wire).listen, { eras: [era] });
}

/** A client of the contract's service, with bridges between the two. Only the first hop speaks the client's era. */
export function bridged({ hops, client: front, server: back }: Passage): Subject {
  return {
    hops: hops.length,
    async open(options = {}) {
      let behind = await openServer(hops[hops.length - 1] as WireName, back);
      for (let at = hops.length - 2; at >= 0; at--) {
        const [listen, over] = [hops[at], hops[at + 1]] as [WireName, WireName];
        behind = await openHop({ listen, over, to: behind, era: back, eras: [at === 0 ? front : back] });
      }
      const client = await connect(behind.address, { ...options, ...wireOf(hops[0]).dial, era: front, onStderr: () => {} });
      const opened = behind;
      void client.closed.then(() => opened.close());
      return client;
    },
  };
}

/** Runs the contract over a passage; gives a line for each check that failed. */
export async function runContract(passage: Passage): Promise<string[]> {
  const subject = bridged(passage);
  const failed: string[] = [];
  for (const check of contract) {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new Error(`did not end within ${CHECK_MS / 1000} s`)), CHECK_MS);
    });
    try {
      await Promise.race([check.run(subject), late]);
    } catch (error) {
      failed.push(`${check.name}: ${(error as Error).message.slice(0, 300)}`);
    } finally {
      clearTimeout(timer);
    }
  }
  return failed;
}
