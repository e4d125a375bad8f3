import { log, progress, type Server } from "anywire";
import { audio, embedded, image, pause, text } from "./samples.js";

const richSchema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  $defs: {
    address: {
      $anchor: "addressDef",
      type: "object",
      properties: { street: { type: "string" }, city: { type: "string" } },
    },
  },
  properties: {
    name: { type: "string" },
    address: { $ref: "#/$defs/address" },
    contactMethod: { type: "string", enum: ["phone", "email"] },
    phone: { type: "string" },
    email: { type: "string" },
  },
  allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
  if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { required: ["phone"] },
  else: { required: ["email"] },
  additionalProperties: false,
};

/** Tools that only give: contents, logs, progress, errors. */
export function addTools(server: Server): void {
  server
    .tool("test_simple_text", { description: "Gives a text" }, () => "This is a simple text response for testing.")
    .tool("test_image_content", { description: "Gives an image" }, () => [image])
    .tool("test_audio_content", { description: "Gives a sound" }, () => [audio])
    .tool("test_embedded_resource", { description: "Gives a resource" }, () => [
      embedded("test://embedded-resource", "text/plain", "This is an embedded resource content."),
    ])
    .tool("test_multiple_content_types", { description: "Gives a text, an image and a resource" }, () => [
      text("Multiple content types test:"),
      image,
      embedded("test://mixed-content-resource", "application/json", JSON.stringify({ test: "data", value: 123 })),
    ])
    .tool("test_tool_with_logging", { description: "Logs as it goes" }, async function* () {
      yield log("info", "Tool execution started");
      await pause(50);
      yield log("info", "Tool processing data");
      await pause(50);
      yield log("info", "Tool execution completed");
      return "Logged three times.";
    })
    .tool("test_logging_tool", { description: "Logs at every level" }, async function* () {
      for (const level of ["debug", "info", "warning", "error"] as const) yield log(level, `An entry of level ${level}`);
      return "Logged.";
    })
    .tool("test_tool_with_progress", { description: "Tells how far it is" }, async function* () {
      for (const done of [0, 50, 100]) {
        yield progress(done, 100);
        await pause(50);
      }
      return "Done.";
    })
    .tool("test_error_handling", { description: "Fails" }, () => {
      throw new Error("This tool intentionally returns an error for testing");
    })
    .tool("test_reconnection", { description: "Takes long enough for its stream to be let go" }, async () => {
      await pause(800);
      return "Reconnection test completed.";
    })
    .tool("json_schema_2020_12_tool", { description: "Takes what a rich schema allows", input: richSchema }, () => "Valid.")
    .tool(
      "test_x_mcp_header",
      {
        description: "Has an argument that a header mirrors",
        input: {
          type: "object",
          properties: { region: { type: "string", "x-mcp-header": "Region" }, query: { type: "string" } },
          required: ["region"],
        },
      },
      ({ region }) => `Region: ${String(region)}`,
    )
    .tool("test_trigger_tool_change", { description: "Tells that the tools changed" }, () => {
      server.changed("tools");
      return "Told.";
    })
    .tool("test_trigger_prompt_change", { description: "Tells that the prompts changed" }, () => {
      server.changed("prompts");
      return "Told.";
    });
}
