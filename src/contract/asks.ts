import { Fault } from "../core/index.js";
import { concat } from "../stream/index.js";
import { binaryOf, equal, eventually, member, ok, rejection } from "./assert.js";
import { type Check, check } from "./check.js";
import { ASKED_BYTES, pattern, reportOf } from "./service.js";

const answered = { action: "accept", content: { name: "Ada" } } as const;

export const askChecks: readonly Check[] = [
  check(
    "a form is asked in the middle of a call, between its progress",
    async (client) => {
      const seen: unknown[] = [];
      const result = await client.callTool("ask-form", {}, { onProgress: ({ message }) => seen.push(message) });
      equal(result.structuredContent, answered, "the answer");
      equal(seen, ["before", "after"], "the progress");
    },
    { elicit: ({ message }) => (message === "Who?" ? answered : { action: "decline" }) },
  ),
  check(
    "urls, models and roots are asked",
    async (client) => {
      equal((await client.callTool("ask-url")).structuredContent, { action: "accept" }, "the url");
      equal(member((await client.callTool("ask-model")).structuredContent, "model"), "m", "the model");
      equal((await client.callTool("ask-roots")).structuredContent, { roots: [{ uri: "file:///r", name: "r" }] }, "the roots");
    },
    {
      elicit: ({ url }) => ({ action: url === "https://example.com/x" ? "accept" : "decline" }),
      elicitUrl: true,
      sample: () => ({ role: "assistant", content: { type: "text", text: "4" }, model: "m" }),
      roots: [{ uri: "file:///r", name: "r" }],
    },
  ),
  check(
    "two questions at once are both answered",
    async (client) => {
      const { structuredContent } = await client.callTool("ask-both");
      equal(
        structuredContent,
        { first: { action: "accept", content: { name: "One" } }, second: { action: "accept", content: { name: "Two" } } },
        "the answers",
      );
    },
    { elicit: async ({ message }) => ({ action: "accept", content: { name: message } }) },
  ),
  check(
    "questions of concurrent calls are answered each for its own",
    async (client) => {
      const results = await Promise.all(Array.from({ length: 20 }, () => client.callTool("ask-both")));
      for (const { structuredContent } of results)
        equal(
          structuredContent,
          { first: { action: "accept", content: { name: "One" } }, second: { action: "accept", content: { name: "Two" } } },
          "the answers",
        );
    },
    { elicit: async ({ message }) => ({ action: "accept", content: { name: message } }) },
  ),
  check(
    "a read that asks in its middle arrives whole",
    async (client) => {
      const wanted = pattern(0, ASKED_BYTES);
      const chunks: Uint8Array[] = [];
      for await (const chunk of client.readChunks("test://asked")) chunks.push(binaryOf(chunk.data));
      const got = concat(chunks);
      equal(got.byteLength, ASKED_BYTES, "the length");
      ok(
        got.every((byte, at) => byte === wanted[at]),
        "the octets differ",
      );
      const { contents } = await client.readResource("test://asked");
      equal([contents.length, contents[0]?.blob?.length], [1, Math.ceil(ASKED_BYTES / 3) * 4], "the whole read");
    },
    { elicit: () => ({ action: "accept", content: {} }) },
  ),
  check("a client that cannot be asked is not", async (client) => {
    const text = JSON.stringify((await client.callTool("ask-refused")).content);
    ok(text.includes("missing-capability"), `not refused for want of the capability: ${text}`);
    const error = await rejection(client.callTool("ask-form"), "the call that asks");
    equal([error.code, error.data], ["missing-capability", { requiredCapabilities: { elicitation: {} } }], "the fault");
  }),
  check(
    "a handler that throws refuses the question, and nobody waits",
    async (client) => {
      // Where a modern server is asked again with the answers there is no way to refuse one: then the call ends.
      const outcome = await client.callTool("ask-refused").then(
        (result) => JSON.stringify(result.content),
        (error) => (error instanceof Fault ? "refused" : "no Fault"),
      );
      ok(outcome.includes("refused"), `not refused: ${outcome}`);
      equal((await client.callTool("echo", { after: 1 })).structuredContent, { after: 1 }, "a call afterwards");
    },
    {
      elicit: () => {
        throw new Error("not today");
      },
    },
  ),
  withdrawn(),
  {
    name: "giving up a call withdraws its question and cancels its handler",
    async run(subject) {
      let signal: AbortSignal | undefined;
      const client = await subject.open({
        elicit: (_params, context) => {
          signal = context.signal;
          return new Promise(() => {});
        },
      });
      try {
        const abort = new AbortController();
        const call = rejection(client.callTool("ask-key", { key: "asked" }, { signal: abort.signal }), "the call");
        await eventually(() => signal !== undefined, "the question arrives");
        abort.abort();
        equal((await call).code, "cancelled", "the code");
        await eventually(() => signal?.aborted === true, "the client's handler hears that no answer is wanted");
        await eventually(async () => reportOf(await client.callTool("report")).cancelled.includes("asked"), "the server's hears of it too");
      } finally {
        await client.close();
      }
    },
  },
];

function withdrawn(): Check {
  return {
    name: "a question that the server withdraws is ended on the client",
    async run(subject) {
      const signals: AbortSignal[] = [];
      const client = await subject.open({
        elicit: (_params, { signal }) => {
          signals.push(signal);
          return new Promise(() => {});
        },
      });
      try {
        equal((await client.callTool("ask-withdrawn")).content, [{ type: "text", text: "withdrawn" }], "the result");
        await eventually(() => signals.every((signal) => signal.aborted), "the handler hears of it");
      } finally {
        await client.close();
      }
    },
  };
}
