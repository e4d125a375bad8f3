import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import * as bufBase from "../../src/codec/bufmcpv1/base.js";
import { messages as bufMessages } from "../../src/codec/bufmcpv1/dialect.js";
import * as bufPayloads from "../../src/codec/bufmcpv1/payloads.js";
import * as base from "../../src/codec/mcpv1/base.js";
import { mcpv1Messages } from "../../src/codec/mcpv1/dialect.js";
import * as session from "../../src/codec/mcpv1/session-tables.js";
import { bufPage, bufSource, bufTarget, page, payloadsOf, source, target } from "../../tools/proto/page.mjs";

describe("the page of the mapping", () => {
  const made = page(readFileSync(source, "utf8"), { messages: mcpv1Messages, payloads: payloadsOf(session), base });

  it("is what the table says: run `node tools/proto/page.mjs` if it is not", () => {
    expect(readFileSync(target, "utf8")).toBe(made);
  });

  it("has every message, and no link that leads nowhere", () => {
    const headings = new Set([...made.matchAll(/^### (\w+)$/gm)].map(([, name]) => (name as string).toLowerCase()));
    expect(headings.size).toBe(mcpv1Messages.length);
    for (const [, anchor] of made.matchAll(/\]\(#(\w+)\)/g)) expect(headings).toContain(anchor);
    expect(made).not.toContain("(no table");
  });
});

it("the page of buf.mcp.v1 is what its table says", () => {
  const made = bufPage(readFileSync(bufSource, "utf8"), { ...bufPayloads, ...bufBase, messages: bufMessages });
  expect(readFileSync(bufTarget, "utf8")).toBe(made);
  expect(made).not.toContain("<!--");
  const headings = new Set([...made.matchAll(/^### (\w+)$/gm)].map(([, name]) => (name as string).toLowerCase()));
  for (const [, anchor] of made.matchAll(/\]\(#(\w+)\)/g)) expect(headings).toContain(anchor);
});
