import { expect, it } from "vitest";
import type { OutgoingMessage } from "../../codec/index.js";
import { Fault } from "../../core/index.js";
import { linkPair } from "../../wires/memory/pair.js";
import { dialLink } from "./dial-link.js";

const discovered = { resultType: "complete", supportedVersions: ["2026-07-28"], capabilities: {} };

/** A peer that refuses the version of its first `refusals` requests and says that it supports `supported`. */
function dialed(refusals: number, supported: readonly string[]): { methods: string[]; connection: ReturnType<typeof dialLink> } {
  const [mine, theirs] = linkPair();
  const methods: string[] = [];
  void (async () => {
    for await (const batch of theirs.incoming) {
      for (const message of batch) {
        if (message.kind !== "request") continue;
        methods.push(message.method);
        const error = { code: -32022, message: "unsupported", data: { supported, requested: "2026-07-28" } };
        const answer: OutgoingMessage =
          methods.length <= refusals ? { jsonrpc: "2.0", id: message.id, error } : { jsonrpc: "2.0", id: message.id, result: discovered };
        await theirs.send(answer);
      }
    }
  })();
  return { methods, connection: dialLink(mine) };
}

it("asks again where the server supports a version of ours after all", async () => {
  const { methods, connection } = dialed(1, ["2026-07-28"]);
  await using dialled = await connection;
  expect(dialled.era).toBe("modern");
  expect(methods).toEqual(["server/discover", "server/discover"]);
});

it("gives up when it is refused twice", async () => {
  const { methods, connection } = dialed(9, ["2026-07-28"]);
  await expect(connection).rejects.toMatchObject({ code: "unsupported-version" } satisfies Partial<Fault>);
  expect(methods).toEqual(["server/discover", "server/discover"]);
});

it("does not ask again where there is no common version", async () => {
  const { methods, connection } = dialed(9, ["2030-01-01"]);
  await expect(connection).rejects.toBeInstanceOf(Fault);
  expect(methods).toEqual(["server/discover"]);
});
