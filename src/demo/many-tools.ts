import type { JsonObject, Tool, ToolCatalogue } from "../api/index.js";

const inputSchema: JsonObject = { type: "object", properties: { x: { type: "number" } } };

/** `count` tools that exist only while someone looks at them. */
export function manyTools(count: number): ToolCatalogue {
  const digits = String(Math.max(count - 1, 0)).length;
  const tool = (at: number): Tool => ({
    name: `tool-${String(at).padStart(digits, "0")}`,
    description: `Generated tool ${at + 1} of ${count}`,
    inputSchema,
  });
  const find = (name: string): Tool | undefined => {
    const at = /^tool-\d+$/.test(name) ? Number(name.slice(5)) : -1;
    return at >= 0 && at < count && tool(at).name === name ? tool(at) : undefined;
  };
  return {
    *list() {
      for (let at = 0; at < count; at++) yield tool(at);
    },
    find,
    call: (name, args) => (find(name) === undefined ? undefined : `${name} was called with ${JSON.stringify(args)}`),
  };
}
