import { performance } from "node:perf_hooks";
import type { JsonObject } from "anywire";
import { decodeToClient, decodeToServer, encodePart, encodeToClient, encodeToServer } from "../dist/codec/mcpv1/index.js";
import { atMost, type Bench, type Figure, format, type Outcome } from "./figure.js";
import { type Contender, median, type Rated, takeTurns } from "./rounds.js";
import { benchTool } from "./tools.js";

const jsonrpc = "2.0";
const call = {
  jsonrpc,
  id: 12,
  method: "tools/call",
  params: {
    name: "search_documents",
    arguments: { query: "quarterly report", limit: 10, filters: { author: "ada", year: 2026 }, fuzzy: true },
    _meta: { progressToken: 12, "dev.anywire/window": 65_536 },
  },
} as const;
const tools = Array.from({ length: 100 }, (_, at): JsonObject => benchTool(at));
const list = { jsonrpc, id: 1, result: { tools } } as const;
const blob = Buffer.from(Uint8Array.from({ length: 1024 * 1024 }, (_, at) => (at * 2654435761) >>> 24)).toString("base64");
const read = { jsonrpc, id: 1, result: { contents: [{ uri: "file:///a.bin", mimeType: "application/octet-stream", blob }] } } as const;

/** One way of writing a message and reading it again. */
interface Form {
  readonly name: string;
  write(): readonly Uint8Array[];
  read(frames: readonly Uint8Array[]): void;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const asJson = (message: object): Form => ({
  name: "JSON",
  write: () => [encoder.encode(JSON.stringify(message))],
  read: (frames) => frames.forEach((frame) => void JSON.parse(decoder.decode(frame))),
});
const forms = [true, false].map((twin) => ({ name: twin ? "JSON twins" : "Struct", options: { twin } }));

const subjects: readonly { readonly name: string; readonly most: number; readonly forms: readonly Form[] }[] = [
  {
    name: "a small call",
    most: 1.5,
    forms: [
      asJson(call),
      ...forms.map(
        ({ name, options }): Form => ({
          name,
          write: () => [encodeToServer(call, options)],
          read: (frames) => frames.forEach((frame) => void decodeToServer(frame)),
        }),
      ),
    ],
  },
  {
    name: "100 tools",
    most: 1.5,
    forms: [
      asJson(list),
      ...forms.map(
        ({ name, options }): Form => ({
          name,
          write: () => tools.map((value) => encodePart(1, "tools/list", { kind: "item", value }, options)),
          read: (frames) => frames.forEach((frame) => void decodeToClient(frame, () => "tools/list")),
        }),
      ),
    ],
  },
  {
    name: "a blob of 1 MiB",
    most: 0.5,
    forms: [
      asJson(read),
      {
        name: "octets",
        write: () => [encodeToClient(read, "resources/read", { twin: true })],
        read: (frames) => frames.forEach((frame) => void decodeToClient(frame, () => "resources/read")),
      },
    ],
  },
];

/** Bytes and CPU of mcp.v1 against those of JSON: writing to bytes and reading from them, one message after the other. */
export const codec: Bench = {
  name: "codec",
  async run(): Promise<Outcome> {
    const figures: Figure[] = [];
    const notes: string[] = [];
    for (const { name, most, forms } of subjects) {
      const contenders = forms.flatMap((form): Contender[] => {
        const frames = form.write();
        return [contender(`write ${form.name}`, () => form.write()), contender(`read ${form.name}`, () => form.read(frames))];
      });
      const rated = await takeTurns(contenders, { rounds: 15, ms: 30, warmUpMs: 300 });
      const micros = rated.map(({ rates }) => 1e6 / median(rates));
      const sizes = forms.map((form) => form.write().reduce((sum, frame) => sum + frame.length, 0));
      for (const [at, form] of forms.entries()) {
        const digits = (micros[0] as number) < 100 ? 1 : 0;
        const took = `${format(micros[2 * at] as number, digits)} + ${format(micros[2 * at + 1] as number, digits)} µs`;
        notes.push(`${name}, ${form.name}: ${format(sizes[at] as number)} bytes, written and read in ${took}`);
      }
      figures.push(atMost(`codec: ${name}, ${forms[1]?.name}, against JSON`, against(rated), most, "x", 2));
    }
    return { figures, notes };
  },
};

/** How many times the second form takes what the first does, to write and to read: the median over the rounds. */
function against([write, read, secondWrite, secondRead]: readonly Rated[]): number {
  const cost = (rated: Rated | undefined, round: number): number => 1 / (rated?.rates[round] ?? Number.NaN);
  return median((write?.rates ?? []).map((_, at) => (cost(secondWrite, at) + cost(secondRead, at)) / (cost(write, at) + cost(read, at))));
}

function contender(name: string, work: () => unknown): Contender {
  return {
    name,
    run(times) {
      const from = performance.now();
      for (let time = 0; time < times; time++) work();
      return Promise.resolve(performance.now() - from);
    },
  };
}
