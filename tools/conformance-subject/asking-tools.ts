import { ask, askAll, type ElicitParams, elicit, type JsonObject, roots, type SampleParams, type Server, sample } from "anywire";

const defaults: ElicitParams = {
  message: "Please review the defaults",
  requestedSchema: {
    type: "object",
    properties: {
      name: { type: "string", description: "Name", default: "John Doe" },
      age: { type: "integer", description: "Age", default: 30 },
      score: { type: "number", description: "Score", default: 95.5 },
      status: { type: "string", description: "Status", enum: ["active", "inactive", "pending"], default: "active" },
      verified: { type: "boolean", description: "Verified", default: true },
    },
    required: [],
  },
};

const options = ["option1", "option2", "option3"];
const titled = (...titles: string[]): JsonObject[] => titles.map((title, at) => ({ const: `value${at + 1}`, title }));
const enums: ElicitParams = {
  message: "Please choose",
  requestedSchema: {
    type: "object",
    properties: {
      untitledSingle: { type: "string", enum: options },
      titledSingle: { type: "string", oneOf: titled("First Option", "Second Option", "Third Option") },
      legacyEnum: { type: "string", enum: ["opt1", "opt2", "opt3"], enumNames: ["Option One", "Option Two", "Option Three"] },
      untitledMulti: { type: "array", items: { type: "string", enum: options } },
      titledMulti: { type: "array", items: { anyOf: titled("First Choice", "Second Choice", "Third Choice") } },
    },
    required: [],
  },
};

function form(message: string, name: string, type: "string" | "boolean" = "string"): ElicitParams {
  return { message, requestedSchema: { type: "object", properties: { [name]: { type } }, required: [name] } };
}

function say(prompt: string, maxTokens = 100): SampleParams {
  return { messages: [{ role: "user", content: { type: "text", text: prompt } }], maxTokens };
}

/** Tools that ask in the middle of their call, which is one call in either era: the edges see to that. */
export function addAskingTools(server: Server): void {
  server
    .tool(
      "test_sampling",
      {
        description: "Asks the client's model",
        input: { type: "object", properties: { prompt: { type: "string" } }, required: ["prompt"] },
      },
      async function* ({ prompt }) {
        const { content } = yield* sample(say(String(prompt)));
        return `LLM response: ${JSON.stringify(content)}`;
      },
    )
    .tool(
      "test_elicitation",
      {
        description: "Asks the user",
        input: { type: "object", properties: { message: { type: "string" } }, required: ["message"] },
      },
      async function* ({ message }) {
        const answer = yield* elicit({
          message: String(message),
          requestedSchema: {
            type: "object",
            properties: {
              username: { type: "string", description: "User's response" },
              email: { type: "string", description: "User's email address" },
            },
            required: ["username", "email"],
          },
        });
        return `User response: ${JSON.stringify(answer)}`;
      },
    )
    .tool("test_elicitation_sep1034_defaults", { description: "Asks with defaults" }, async function* () {
      const { action, content } = yield* elicit(defaults);
      return `Elicitation completed: action=${action}, content=${JSON.stringify(content ?? {})}`;
    })
    .tool("test_elicitation_sep1330_enums", { description: "Asks with every kind of enumeration" }, async function* () {
      const { action, content } = yield* elicit(enums);
      return `Elicitation completed: action=${action}, content=${JSON.stringify(content ?? {})}`;
    })
    .tool("test_missing_capability", { description: "Needs a client that can sample" }, async function* () {
      yield* sample(say("Anything"));
      return "The client can sample.";
    })
    .tool("test_streaming_elicitation", { description: "Asks the user while it runs" }, async function* () {
      const { action } = yield* elicit(form("Go on?", "ok", "boolean"));
      return `The user chose: ${action}`;
    })
    .tool("test_input_required_result_sampling", { description: "Asks the client's model" }, async function* () {
      const { content } = yield* sample(say("What is the capital of France?"));
      return `The model says: ${JSON.stringify(content)}`;
    })
    .tool("test_input_required_result_list_roots", { description: "Asks for the client's roots" }, async function* () {
      const { roots: found } = yield* roots();
      return `The roots: ${found.map(({ uri }) => uri).join(", ")}`;
    })
    .tool("test_input_required_result_request_state", { description: "Asks the user to confirm" }, async function* () {
      const { action } = yield* elicit(form("Please confirm", "ok", "boolean"));
      return `state-ok: ${action}`;
    })
    .tool("test_input_required_result_tampered_state", { description: "Asks, and takes only its own state back" }, async function* () {
      const { action } = yield* elicit(form("Please confirm", "ok", "boolean"));
      return `The user chose: ${action}`;
    })
    .tool("test_input_required_result_multiple_inputs", { description: "Asks for three things at once" }, async function* () {
      const [name, greeting, found] = yield* askAll([
        elicit(form("What is your name?", "name")),
        sample(say("Generate a greeting", 50)),
        roots(),
      ]);
      return JSON.stringify({ name, greeting, found });
    })
    .tool("test_input_required_result_multi_round", { description: "Asks twice" }, async function* () {
      const name = yield* elicit(form("Step 1: What is your name?", "name"));
      const colour = yield* elicit(form("Step 2: What is your favorite color?", "color"));
      return JSON.stringify({ name, colour });
    })
    .tool("test_input_required_result_capabilities", { description: "Asks only what the client can answer" }, async function* (_args, ctx) {
      const asks = [
        ...(ctx.can("elicitation") ? [ask("elicitation/create", form("What is your name?", "name"))] : []),
        ...(ctx.can("sampling") ? [ask("sampling/createMessage", say("Generate a greeting", 50))] : []),
        ...(ctx.can("roots") ? [ask("roots/list")] : []),
      ];
      return JSON.stringify(yield* askAll(asks));
    });
}
