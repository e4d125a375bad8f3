import type { HandlerContext, JsonObject, Server } from "anywire";

/** The answer that the client brought for `key`, if it accepted and filled in `member`. */
function brought(ctx: HandlerContext, key: string, member: string): string | undefined {
  const responses = ctx.request.params["inputResponses"] as JsonObject | null | undefined;
  const response = responses?.[key] as { readonly action?: unknown; readonly content?: JsonObject } | null | undefined;
  const value = response?.action === "accept" ? response.content?.[member] : undefined;
  return typeof value === "string" ? value : undefined;
}

function wanting(key: string, message: string, member: string): { readonly resultType: string; readonly inputRequests: JsonObject } {
  const requestedSchema = { type: "object", properties: { [member]: { type: "string" } }, required: [member] };
  return { resultType: "input_required", inputRequests: { [key]: { method: "elicitation/create", params: { message, requestedSchema } } } };
}

/** Handlers that keep nothing between two requests: what they need is in the request, or they say that it is missing. */
export function addStateless(server: Server): void {
  server
    .tool("test_input_required_result_elicitation", { description: "Greets whoever says a name" }, (_args, ctx) => {
      const name = brought(ctx, "user_name", "name");
      return name === undefined ? wanting("user_name", "What is your name?", "name") : `Hello, ${name}!`;
    })
    .prompt("test_input_required_result_prompt", { description: "A prompt that needs a context" }, (_args, ctx) => {
      const context = brought(ctx, "user_context", "context");
      return context === undefined
        ? wanting("user_context", "What context should the prompt use?", "context")
        : `Use this context: ${context}`;
    });
}
