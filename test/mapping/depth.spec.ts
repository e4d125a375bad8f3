import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseMessage } from "../../src/codec/index.js";
import * as mcpv1 from "../../src/codec/mcpv1/index.js";
import { toFault } from "../../src/core/index.js";
import { cases, objects, parts } from "../../tools/proto/shapes.mjs";

const both = [{ twin: false }, { twin: true }];

/** How many levels a JSON value has. */
function levels(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(levels));
}

/** Whether something is refused for its depth. */
function tooDeep(run: () => unknown): boolean {
  try {
    const given = [run()].flat() as { readonly kind?: string; readonly fault?: unknown }[];
    return given.some((message) => message?.kind === "bad" && isDepth(message.fault));
  } catch (error) {
    return isDepth(error);
  }
}

function isDepth(error: unknown): boolean {
  const { data } = toFault(error);
  if ((data as { limit?: string } | undefined)?.limit !== "depth") throw error;
  return true;
}

/** The least depth that lets it pass, which must be as many levels as the JSON has. */
function passesFrom(least: number, read: (limits: { depth: number }) => unknown): boolean {
  // Below four levels there is nothing that anybody calls deep.
  return !tooDeep(() => read({ depth: least })) && (least < 5 || tooDeep(() => read({ depth: least - 1 })));
}

const sample = { seed: 11, numRuns: 400 };

describe("a message is as deep as it is in JSON", () => {
  it("on a session, either way", () => {
    for (const options of both) {
      fc.assert(
        fc.property(cases, ({ to, message, method }) => {
          const text = JSON.stringify(message);
          const given = JSON.parse(text) as never;
          const least = levels(given);
          if (!passesFrom(least, (limits) => parseMessage(text, limits))) throw new Error("the test counts otherwise than the JSON codec");
          const bytes = to === "server" ? mcpv1.encodeToServer(given, options) : mcpv1.encodeToClient(given, method, options);
          return passesFrom(least, (limits) =>
            to === "server" ? mcpv1.decodeToServer(bytes, limits) : mcpv1.decodeToClient(bytes, () => method, limits),
          );
        }),
        sample,
      );
    }
  });

  it("in the message of an RPC", () => {
    const items: readonly string[] = ["Tool", "Resource", "ResourceTemplate", "Prompt"];
    for (const options of both) {
      for (const [name, object] of Object.entries(objects)) {
        if (items.includes(name)) continue;
        fc.assert(
          fc.property(object, (made) => {
            const value = JSON.parse(JSON.stringify(made)) as Record<string, unknown>;
            // The message, and in it the params, the result or the error; some messages hold one of them as a member.
            const wrapped = ["CallToolWithProgressResponse", "StreamToolCallsResponse", "StreamToolCallsRequest"].includes(name);
            const least = wrapped ? levels(value) : 1 + levels(value);
            const bytes = mcpv1.encodeMessage(name as mcpv1.MessageName, value, options);
            return passesFrom(least, (limits) => mcpv1.decodeMessage(name as mcpv1.MessageName, bytes, limits));
          }),
          { ...sample, numRuns: 60 },
        );
      }
    }
  });

  it("in a part of an answer", () => {
    for (const options of both) {
      fc.assert(
        fc.property(parts, ({ method, part: made }) => {
          if (made.kind === "chunk") return true;
          const part = JSON.parse(JSON.stringify(made)) as typeof made;
          // The message, the result, and in it the array of items or contents.
          const least =
            part.kind === "item"
              ? 3 + levels(part.value)
              : part.kind === "content"
                ? 3 + levels(part.head)
                : part.kind === "page"
                  ? 1 + levels(part.rest)
                  : 1 + levels(part.value);
          const bytes = mcpv1.encodePartMessage(method, part, options);
          return passesFrom(least, (limits) => mcpv1.decodePartMessage(method, bytes, undefined, limits));
        }),
        sample,
      );
    }
    expect.assertions(0);
  });
});
