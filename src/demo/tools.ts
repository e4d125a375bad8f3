import { Fault, log, progress, type Server } from "../api/index.js";
import { pauseFor } from "./pause.js";

const text = { type: "string" } as const;

/** Tools that need nothing of the client. */
export function addTools(server: Server): void {
  server
    .tool(
      "echo",
      {
        description: "Gives back a text",
        input: {
          type: "object",
          properties: {
            text: { ...text, description: "What to give back" },
            times: { type: "integer", minimum: 1, maximum: 100, description: "How often" },
            upper: { type: "boolean", description: "In capitals" },
          },
          required: ["text"],
        },
        annotations: { readOnlyHint: true },
      },
      (args) => {
        const said = args["upper"] === true ? String(args["text"]).toUpperCase() : String(args["text"]);
        return Array.from({ length: Number(args["times"] ?? 1) }, () => said).join("\n");
      },
    )
    .tool(
      "count",
      {
        description: "Counts slowly, with progress",
        input: {
          type: "object",
          properties: {
            to: { type: "integer", minimum: 1, maximum: 100_000, default: 10 },
            ms: { type: "integer", minimum: 0, maximum: 60_000, default: 200, description: "Milliseconds from one to the next" },
          },
        },
        annotations: { readOnlyHint: true },
      },
      async function* (args, ctx) {
        const last = Number(args["to"] ?? 10);
        for (let at = 1; at <= last && !ctx.cancel.fired; at++) {
          await pauseFor(Number(args["ms"] ?? 200), ctx.cancel);
          yield progress(at, last, `${at} of ${last}`);
        }
        return `counted to ${last}`;
      },
    )
    .tool(
      "stream-logs",
      {
        description: "Writes log entries of every level",
        input: {
          type: "object",
          properties: {
            entries: { type: "integer", minimum: 1, maximum: 100_000, default: 5 },
            ms: { type: "integer", minimum: 0, default: 50 },
          },
        },
      },
      async function* (args, ctx) {
        const levels = ["debug", "info", "notice", "warning", "error"] as const;
        const entries = Number(args["entries"] ?? 5);
        for (let at = 0; at < entries && !ctx.cancel.fired; at++) {
          yield log(levels[at % levels.length] ?? "info", { entry: at + 1, of: entries }, "demo");
          await pauseFor(Number(args["ms"] ?? 50), ctx.cancel);
        }
        return `${entries} entries written`;
      },
    )
    .tool(
      "weather",
      {
        description: "Makes up the weather of a city, as structured output",
        input: {
          type: "object",
          properties: { city: { ...text, minLength: 1 }, days: { type: "array", items: text } },
          required: ["city"],
        },
        output: {
          type: "object",
          properties: {
            city: text,
            celsius: { type: "number" },
            sky: { enum: ["clear", "cloudy", "rain"] },
            days: { type: "array", items: text },
          },
          required: ["city", "celsius", "sky"],
        },
        annotations: { readOnlyHint: true },
      },
      (args) => {
        const city = String(args["city"]);
        const seed = [...city].reduce((sum, character) => sum + (character.codePointAt(0) ?? 0), 0);
        const days = Array.isArray(args["days"]) ? { days: args["days"] } : {};
        return { structuredContent: { city, celsius: (seed % 350) / 10, sky: (["clear", "cloudy", "rain"] as const)[seed % 3], ...days } };
      },
    )
    .tool(
      "fail",
      {
        description: "Fails: by a result that says so, or by a fault",
        input: { type: "object", properties: { how: { enum: ["error", "fault"], default: "error" } } },
      },
      (args) => {
        if (args["how"] === "fault") throw new Fault("internal", "a fault, as asked for", { data: { asked: true } });
        throw new Error("it broke, as asked for");
      },
    );
}
