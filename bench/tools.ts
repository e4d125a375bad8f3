import type { JsonObject } from "anywire";

/** The tools that the lists of both sides are made of: as large as those of real servers, about 1 kB each. */
export const TOOLS = 1000;

export type BenchTool = {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: JsonObject & { readonly type: "object" };
};

const areas = ["issue", "branch", "release", "invoice", "ticket", "document", "calendar", "deployment"] as const;

export function benchTool(at: number): BenchTool {
  const area = areas[at % areas.length] as string;
  return {
    name: `${area}_search_${at}`,
    title: `Search ${area}s (${at})`,
    description: `Searches the ${area}s that the caller may see and returns those that match, newest first. Use the cursor to go on.`,
    inputSchema: {
      type: "object",
      properties: {
        query: { type: "string", minLength: 1, maxLength: 256, description: `Words that the ${area} has to contain` },
        state: { type: "string", enum: ["open", "closed", "all"], description: "Which states to include" },
        labels: { type: "array", items: { type: "string" }, maxItems: 10, description: "Labels that all have to be there" },
        limit: { type: "integer", minimum: 1, maximum: 100, description: "How many to return at most" },
        since: { type: "string", description: "Only those changed after this time, in ISO 8601" },
        owner: {
          type: "object",
          description: `Who owns the ${area}`,
          properties: { login: { type: "string" }, kind: { type: "string", enum: ["user", "team"] } },
          required: ["login"],
        },
        archived: { type: "boolean", description: "Whether to look through the archive too" },
      },
      required: ["query"],
    },
  };
}
