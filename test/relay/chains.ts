import type { Hop } from "./chain.js";

const ends: readonly Hop[] = ["stdio", "http", "sse", "ws", "tunnel"];
const all: readonly Hop[] = ["stdio", "http", "sse", "ws", "tunnel", "grpc", "unary"];

/** One relay between every two wires that have raw ends, two with each wire between them, and three in a row. */
export const chains: readonly (readonly Hop[])[] = [
  ...ends.flatMap((front) => ends.map((back) => [front, back])),
  ...all.map((middle): readonly Hop[] => ["ws", middle, "ws"]),
  ...all.map((_, index): readonly Hop[] => [at(ends, index), at(all, index + 5), at(all, index + 3), at(ends, index + 1)]),
];

function at<T>(list: readonly T[], index: number): T {
  return list[index % list.length] as T;
}
