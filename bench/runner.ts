/** The client of one pair in a process of its own, so that no contender pays for another's garbage. Arguments: make, era, what, wire. */
import { performance } from "node:perf_hooks";
import type { Era } from "anywire";
import { openGrpcPair } from "./grpc/pairs.js";
import { openHttpPair } from "./http/pairs.js";
import { type Make, openPair, type Pair, type What, type Wire } from "./pairs.js";
import { WORKERS } from "./sizes.js";

export interface Order {
  readonly work: "one" | "many" | "list";
  readonly times: number;
}

const works: Readonly<Record<Order["work"], (pair: Pair, times: number) => Promise<void>>> = {
  async one(pair, times) {
    for (let at = 0; at < times; at++) await pair.echo(`hello ${at}`);
  },
  async many(pair, times) {
    let left = times;
    const worker = async (): Promise<void> => {
      while (left-- > 0) await pair.echo(`hello ${left}`);
    };
    await Promise.all(Array.from({ length: WORKERS }, worker));
  },
  async list(pair, times) {
    for (let at = 0; at < times; at++) await pair.list();
  },
};

const [make, era, what, wire] = process.argv.slice(2) as [Make, Era, What, Wire];
const pair = await (wire === "http"
  ? openHttpPair(make, era)
  : wire.startsWith("grpc")
    ? openGrpcPair(era, wire)
    : openPair(make, era, what));
process.on("message", async ({ work, times }: Order) => {
  const began = performance.now();
  await works[work](pair, times);
  process.send?.(performance.now() - began);
});
process.once("disconnect", () => void pair.close());
process.send?.(pair.name);
