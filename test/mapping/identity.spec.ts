import { isDeepStrictEqual } from "node:util";
import { type DescMessage, fromBinary, toBinary } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SessionRequestSchema, SessionResponseSchema } from "../../src/codec/gen/mcp/v1/mcp_pb.js";
import { parseJson, parseMessage, reserialise } from "../../src/codec/index.js";
import * as mcpv1 from "../../src/codec/mcpv1/index.js";
import { jsonText } from "../../src/core/index.js";
import { message, session, textOf } from "../../tools/proto/harness.mjs";
import { cases, objects, parts } from "../../tools/proto/shapes.mjs";
import { hostile } from "../fixtures/mcp/hostile.js";
import { legacy } from "../fixtures/mcp/legacy.js";
import { modern } from "../fixtures/mcp/modern.js";

const codec = { ...mcpv1, parseMessage, reserialise, parseJson, jsonText };
const both = [{ twin: false }, { twin: true }];
const sample = { seed: 20260728, numRuns: 1000 };

describe("JSON comes back from mcp.v1 as it went in", () => {
  for (const [name, fixtures] of Object.entries({ "2025-11-25": legacy, "2026-07-28": modern, hostile })) {
    it(`${name}, message by message`, () => {
      for (const options of both) {
        for (const one of fixtures) {
          const { wrong } = session(codec, one, options);
          expect(wrong, JSON.stringify(one)).toBeUndefined();
        }
      }
    });
  }

  it("whatever it is", () => {
    for (const options of both) {
      fc.assert(
        fc.property(cases, (one) => session(codec, one, options).wrong === undefined),
        sample,
      );
    }
  });

  it("also in messages of their own", () => {
    for (const options of both) {
      for (const [name, object] of Object.entries(objects)) {
        fc.assert(
          fc.property(object, (value) => message(codec, name as mcpv1.MessageName, value, options).wrong === undefined),
          { ...sample, numRuns: 100 },
        );
      }
    }
  });

  it("and so do parts of answers", () => {
    for (const options of both) {
      fc.assert(
        fc.property(parts, ({ method, part }) => {
          const given = part.kind === "chunk" ? part : (parseJson(textOf(part)) as typeof part);
          // What a number may be where there are only doubles is said elsewhere.
          if (!options.twin && part.kind !== "chunk" && jsonText(given) !== JSON.stringify(JSON.parse(textOf(part)))) return true;
          const bytes = mcpv1.encodePartMessage(method, given, options);
          // Vitest's own comparison takes a member `constructor` for the constructor.
          if (!isDeepStrictEqual(plain(mcpv1.decodePartMessage(method, bytes, told(), { depth: 1000 })), [given])) return false;
          if (given.kind === "rest") return true;
          const frame = mcpv1.encodePart("7", method, given, options);
          const back = [mcpv1.decodeToClient(frame, () => method, { depth: 1000, stateOf: told })].flat();
          return isDeepStrictEqual(plain(back.map((incoming) => (incoming.kind === "part" ? incoming.part : undefined))), [given]);
        }),
        { ...sample, numRuns: 500 },
      );
    }
  });

  it("even if generated code had it in its hands on the way", () => {
    const relayed = {
      ...codec,
      encodeToServer: (...given: Parameters<typeof codec.encodeToServer>) => relay(SessionRequestSchema, codec.encodeToServer(...given)),
      encodeToClient: (...given: Parameters<typeof codec.encodeToClient>) => relay(SessionResponseSchema, codec.encodeToClient(...given)),
      encodePart: (...given: Parameters<typeof codec.encodePart>) => relay(SessionResponseSchema, codec.encodePart(...given)),
    };
    for (const options of both) {
      for (const one of [...legacy, ...modern]) {
        const { wrong } = session(relayed, one, options);
        expect(wrong, JSON.stringify(one)).toBeUndefined();
      }
    }
  });

  it("is what a broken codec would fail", () => {
    const lossy = { ...codec, encodeToServer: (given: object) => codec.encodeToServer({ ...given, id: 0 } as never, { twin: false }) };
    expect(session(lossy, { to: "server", message: { jsonrpc: "2.0", id: "0", method: "ping" } }, { twin: false }).wrong).toBeDefined();
    const changed = (text: string): boolean =>
      session(
        {
          ...codec,
          encodeToServer: (given: object) => codec.encodeToServer({ ...given, params: JSON.parse(text) } as never, { twin: true }),
        },
        { to: "server", message: { jsonrpc: "2.0", id: 1, method: "vendor/x", params: { a: -0 } } },
        { twin: true },
      ).wrong !== undefined;
    expect([changed('{"a":0}'), changed("{}"), changed('{"a":0.0}')]).toEqual([true, true, true]);
  });
});

/** What a program of protobuf-es makes of a message that it reads and writes again. */
function relay(schema: DescMessage, bytes: Uint8Array): Uint8Array {
  return toBinary(schema, fromBinary(schema, bytes, { readUnknownFields: false }));
}

/** The state of a call whose server says where contents begin. */
function told(): mcpv1.PartState {
  const state = mcpv1.partState();
  state.told = true;
  return state;
}

/** Octets as an array of their own, to be compared. */
function plain(found: readonly unknown[]): unknown[] {
  return found.map((part) => {
    const data = (part as { readonly data?: unknown } | undefined)?.data;
    return data instanceof Uint8Array ? { ...(part as object), data: new Uint8Array(data) } : part;
  });
}
