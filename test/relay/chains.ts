import type { Eras, Hop } from "./chain.js";

const fronts: readonly Hop[] = ["stdio", "http", "sse", "ws", "tunnel", "grpc", "unary", "connect"];
const backs: readonly Hop[] = ["stdio", "http", "sse", "ws", "tunnel", "grpc", "unary"];

/** One relay with three servers behind each kind of client, two with each wire between them, and three in a row. */
export const chains: readonly (readonly Hop[])[] = [
  ...fronts.flatMap((front, index) => [0, 2, 5].map((step): readonly Hop[] => [front, at(backs, index + step)])),
  ...backs.map((middle): readonly Hop[] => ["ws", middle, "ws"]),
  ...fronts.map((front, index): readonly Hop[] => [front, at(backs, index + 5), at(backs, index + 3), at(backs, index + 1)]),
];

/** One hop on each side of a single relay: each wire with itself, or every pair of wires. */
export const sameWire: readonly (readonly Hop[])[] = [...backs, "proto" as const].map((wire) => [wire, wire]);
export const everyPair: readonly (readonly Hop[])[] = [...fronts, "proto" as const].flatMap((front) =>
  [...backs, "tcp" as const, "proto" as const].map((back): readonly Hop[] => [front, back]),
);

function at<T>(list: readonly T[], index: number): T {
  return list[index % list.length] as T;
}

export const sameEra: readonly Eras[] = [
  { client: "legacy", server: "legacy" },
  { client: "modern", server: "modern" },
];
export const otherEra: readonly Eras[] = [
  { client: "legacy", server: "modern" },
  { client: "modern", server: "legacy" },
];

/** HTTP+SSE is older than the modern era. */
export function canSpeak(hops: readonly Hop[], { client, server }: Eras): boolean {
  return !hops.some((hop, index) => hop === "sse" && (index === 0 ? client : server) === "modern");
}
