import { performance } from "node:perf_hooks";
import { parseJson } from "../dist/codec/index.js";
import { defaultLimits, ExactNumber, jsonText } from "../dist/core/index.js";
import { start } from "./contenders.js";
import { atMost, type Bench, format, type Outcome } from "./figure.js";
import { type Contender, median, takeTurns } from "./rounds.js";
import { WORKERS } from "./sizes.js";

const meta = "io.modelcontextprotocol/";
/** An echo call and its answer. */
const messages = [
  {
    jsonrpc: "2.0",
    id: 12,
    method: "tools/call",
    params: {
      name: "echo",
      arguments: { text: "hello 12" },
      _meta: {
        [`${meta}protocolVersion`]: "2026-07-28",
        [`${meta}clientInfo`]: { name: "bench", version: "1" },
        [`${meta}clientCapabilities`]: {},
        "dev.anywire/window": 65_536,
      },
    },
  },
  {
    jsonrpc: "2.0",
    id: 12,
    result: {
      content: [{ type: "text", text: "hello 12" }],
      resultType: "complete",
      _meta: { [`${meta}serverInfo`]: { name: "bench", version: "1" } },
    },
  },
];

/** What it costs to keep numbers that a double would change, where there are none: of an echo call, which reads and writes two messages. */
export const numbers: Bench = {
  name: "numbers",
  async run(): Promise<Outcome> {
    // Once there has been one, every message that is written is looked at for others.
    new ExactNumber("-0");
    const plain = contender("JSON.parse, the depth and JSON.stringify", (text) => {
      const value: unknown = JSON.parse(text);
      if (nestsDeeper(value, defaultLimits.depth)) throw new Error("the message nests too deep");
      return JSON.stringify(value);
    });
    const exact = contender("with exact numbers", (text) => jsonText(parseJson(text)));
    const echo = await start("anywire", "modern", "plain");
    try {
      const rated = await takeTurns([plain, exact, echo.contender("many")], { rounds: 41, ms: 100, warmUpMs: 500 });
      const micros = rated.map(({ rates }) => rates.map((rate) => 1e6 / rate)) as [number[], number[], number[]];
      const [without, withThem, call] = micros;
      const over = median(withThem.map((cost, at) => cost / (without[at] as number)));
      const share = median(withThem.map((cost, at) => (100 * (cost - (without[at] as number))) / (call[at] as number)));
      return {
        figures: [atMost(`exact numbers: of an echo call, ${WORKERS} at a time`, share, 2, "%", 1)],
        notes: [
          `with exact numbers, over without: ${format(over, 3)}x`,
          ...[plain, exact].map(({ name }, at) => `${name}: ${format(median(micros[at] as number[]), 2)} µs for a request and its answer`),
          `${echo.name}: ${format(median(call), 2)} µs a call, ${WORKERS} at a time`,
        ],
      };
    } finally {
      await echo.close();
    }
  },
};

/** The depth of a message has to be known in any case; the walk that finds it also finds the numbers. */
function nestsDeeper(value: unknown, max: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (max === 0) return true;
  if (Array.isArray(value)) {
    for (const element of value) if (typeof element === "object" && nestsDeeper(element, max - 1)) return true;
    return false;
  }
  for (const name in value) {
    const member = (value as Record<string, unknown>)[name];
    if (typeof member === "object" && nestsDeeper(member, max - 1)) return true;
  }
  return false;
}

function contender(name: string, again: (text: string) => string): Contender {
  const texts = messages.map((message) => JSON.stringify(message));
  return {
    name,
    run(times) {
      const from = performance.now();
      for (let time = 0; time < times; time++) for (const text of texts) again(text);
      return Promise.resolve(performance.now() - from);
    },
  };
}
