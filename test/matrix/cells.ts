import type { Era } from "../../src/api/index.js";
import { type Passage, runContract } from "./contract.js";
import { foreignClients, foreignServers, runPeers } from "./peers.js";
import { type WireName, wireNames, wireOf } from "./wires.js";

/** One result of the matrix. */
export interface Cell {
  readonly id: string;
  readonly table: string;
  readonly row: string;
  readonly column: string;
  /** The wires or peers at both ends, for `--only`. */
  readonly ends: readonly [string, string];
  /** Gives a line for each thing that went wrong. */
  run(): Promise<string[]>;
}

const eras: readonly Era[] = ["legacy", "modern"];
const upstreams = wireNames.filter((name) => name !== "any");
const speaks = (wire: WireName, era: Era): boolean => wireOf(wire).eras.includes(era);

/** Whether every hop can speak its era: the first the client's, the others the server's. */
function canPass({ hops: [front, ...rest], client, server }: Passage): boolean {
  return speaks(front, client) && rest.every((wire) => speaks(wire, server));
}

function contractCells(table: string, hopsOf: (listen: WireName, upstream: WireName) => Passage["hops"] | undefined): Cell[] {
  return eras.flatMap((client) =>
    eras.flatMap((server) =>
      wireNames.flatMap((listen) =>
        upstreams.flatMap((upstream): Cell[] => {
          const hops = hopsOf(listen, upstream);
          if (hops === undefined || !canPass({ hops, client, server })) return [];
          const title = `${table}: ${client} client, ${server} server`;
          return [
            {
              id: `${title}: ${hops.join(" > ")}`,
              table: title,
              row: listen,
              column: upstream,
              ends: [listen, upstream],
              run: () => runContract({ hops, client, server }),
            },
          ];
        }),
      ),
    ),
  );
}

/** Each wire once on each side of a longer chain: the matrix of one bridge has the pairs. */
function chainOf(count: number, listen: WireName, upstream: WireName): Passage["hops"] | undefined {
  const inner = upstreams.filter((name) => wireOf(name).speaks === undefined && name !== "sse");
  const at = wireNames.indexOf(listen);
  if (upstream !== upstreams[(at + 3) % upstreams.length]) return undefined;
  const between = Array.from({ length: count - 1 }, (_, step) => inner[(at + step * 2) % inner.length] as WireName);
  return [listen, ...between, upstream] as unknown as Passage["hops"];
}

function peerCells(bridges: number): Cell[] {
  const table = `other clients and servers, ${bridges === 1 ? "one bridge" : `${bridges} bridges`}`;
  return foreignClients.flatMap((row) =>
    foreignServers.map((server) => ({
      id: `${table}: ${row.name} > ${server}`,
      table,
      row: row.name,
      column: server,
      ends: [row.listen, server] as const,
      run: () => runPeers({ row, server, bridges }),
    })),
  );
}

export const cells: readonly Cell[] = [
  ...peerCells(1),
  ...peerCells(2),
  ...peerCells(4),
  ...contractCells("the contract, one bridge", (listen, upstream) => [listen, upstream]),
  ...contractCells("the contract, two bridges", (listen, upstream) => chainOf(2, listen, upstream)),
  ...contractCells("the contract, four bridges", (listen, upstream) => chainOf(4, listen, upstream)),
];
