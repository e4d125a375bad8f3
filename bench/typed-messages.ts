import type { DescMessage } from "@bufbuild/protobuf";
import { convertTool } from "anywire/schema";

const rows = {
  type: "array",
  items: {
    type: "object",
    properties: { id: { type: "integer", minimum: 0, maximum: 1e6 }, name: { type: "string", minLength: 1 }, score: { type: "number" } },
  },
};
const { input, output } = convertTool(
  {
    name: "search",
    inputSchema: {
      type: "object",
      properties: { query: { type: "string", minLength: 1 }, limit: { type: "integer", minimum: 1, maximum: 100 }, rows },
      required: ["query"],
    },
    outputSchema: { type: "object", properties: { title: { type: "string" }, rows } },
  },
  { package: "bench.v1" },
);

/** What the tool takes and gives, with rules. */
export const messages: { readonly input: DescMessage; readonly output: DescMessage } = {
  input: input.message,
  output: output?.message as DescMessage,
};

/** Arguments with so many rows, as JSON. */
export function argumentsOf(count: number): Record<string, unknown> {
  const made = Array.from({ length: count }, (_, id) => ({ id, name: `row ${id}`, score: id / 3 }));
  return { query: "protobuf", limit: 10, ...(count === 0 ? undefined : { rows: made }) };
}
