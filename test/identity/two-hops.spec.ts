import { afterAll } from "vitest";
import type { InnerWire } from "./chain.js";
import { rows } from "./rows.js";
import { Chains, callersAre, figures, wide } from "./suite.js";

const chains = new Chains();
afterAll(() => chains.closeAll());
const record = figures("two relays in front of a legacy stdio server");
const inners: readonly InnerWire[] = ["grpc", "ws", "tunnel", "http", "unary", "sse", "proto"];

// Every client takes the next wire for the hop between the relays; all of them only where that is asked for.
for (const [at, row] of rows.entries())
  for (const [index, inner] of inners.entries())
    if (wide || index === at % inners.length) callersAre({ row, inner, server: index % 2 === 0 ? "v2" : "v1" }, chains, record);
