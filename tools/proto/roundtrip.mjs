import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { inspect, parseArgs } from "node:util";
import fc from "fast-check";
import { MessageCodec } from "../../dist/codec/bufmcpv1/index.js";
import { parseJson, parseMessage, reserialise } from "../../dist/codec/index.js";
import * as mcpv1 from "../../dist/codec/mcpv1/index.js";
import { jsonText } from "../../dist/core/index.js";
import { connection, message, session } from "./harness.mjs";
import { cases, objects } from "./shapes.mjs";

// Sends messages through mcp.v1 and buf.mcp.v1 and back, and says whether the text of each came back as it went: random ones (--count, --seed), and the tools of
// real servers (--corpus DIR, with files of JSON that hold `tools`). Exits with 1 if one did not.
const { values } = parseArgs({
  options: { corpus: { type: "string" }, count: { type: "string", default: "100000" }, seed: { type: "string", default: "20260728" } },
});
const count = Number(values.count);
const seed = Number(values.seed);
const codec = { ...mcpv1, MessageCodec, parseMessage, reserialise, parseJson, jsonText };
/** Characters of what is shown of a message that came back as another. */
const LONG = 4000;
let failed = 0;

/** Counts one run of many. */
class Total {
  name;
  messages = 0;
  json = 0;
  bytes = 0;
  wrong = 0;
  reordered = 0;
  refused = 0;

  constructor(name) {
    this.name = name;
  }

  add(given, run) {
    this.messages++;
    let wrong;
    try {
      const verdict = run();
      this.bytes += verdict.size;
      this.json += verdict.json ?? 0;
      if (verdict.reordered) this.reordered++;
      if (verdict.refused) this.refused++;
      wrong = verdict.wrong;
    } catch (error) {
      wrong = error;
    }
    if (wrong === undefined) return;
    this.wrong++;
    if (failed++ < 3)
      console.error(`${this.name}: ${inspect(given, { depth: 12 }).slice(0, LONG)}\n${inspect(wrong, { depth: 12 }).slice(0, LONG)}`);
  }

  print() {
    const sizes =
      this.json > 0 ? `, ${this.json} bytes of JSON, ${this.bytes} of protobuf (${((100 * this.bytes) / this.json).toFixed(1)}%)` : "";
    const others = `, ${this.reordered} with members in another order, ${this.refused} refused for a number`;
    console.log(`${this.name}: ${this.messages} messages, ${this.wrong} not the same${others}${sizes}`);
  }
}

for (const twin of [false, true]) {
  const form = twin ? "with twins" : "with Struct";
  const random = new Total(`random, ${form}`);
  fc.assert(
    fc.property(cases, (one) => random.add(one, () => session(codec, one, { twin }))),
    { numRuns: Math.ceil(count / 2), seed },
  );
  random.print();
  const whole = new Total(`random, in messages of their own, ${form}`);
  for (const [name, object] of Object.entries(objects)) {
    fc.assert(
      fc.property(object, (value) => whole.add(value, () => message(codec, name, value, { twin }))),
      { numRuns: Math.ceil(count / 100), seed },
    );
  }
  whole.print();
  if (values.corpus !== undefined) corpus(values.corpus, form, (one) => session(codec, one, { twin }));
}
const proto = new Total("random, buf.mcp.v1");
fc.assert(
  fc.property(cases, (one) => proto.add(one, () => connection(codec, one))),
  { numRuns: count, seed },
);
proto.print();
if (values.corpus !== undefined) corpus(values.corpus, "buf.mcp.v1", (one) => connection(codec, one));
process.exitCode = failed === 0 ? 0 : 1;

function corpus(folder, form, run) {
  const total = new Total(`tools of real servers, ${form}`);
  for (const file of readdirSync(folder).filter((name) => name.endsWith(".json"))) {
    const found = JSON.parse(readFileSync(join(folder, file), "utf8"));
    const tools = Array.isArray(found) ? found : (found.tools ?? found.result?.tools ?? []);
    for (const tool of tools) {
      const one = { to: "client", method: "tools/list", message: { jsonrpc: "2.0", id: 1, result: { tools: [tool] } } };
      total.add(tool.name, () => run(one));
    }
  }
  total.print();
}
