import { elicit, roots, type Server, sample } from "../api/index.js";

/** Tools that ask the client something in the middle of their call. */
export function addAsks(server: Server): void {
  server
    .tool("greet", { description: "Asks for your name, then greets you" }, async function* () {
      const answer = yield* elicit({
        message: "What is your name?",
        requestedSchema: { type: "object", properties: { name: { type: "string", title: "Name", minLength: 1 } }, required: ["name"] },
      });
      return answer.action === "accept" ? `Hello, ${String(answer.content?.["name"])}!` : "Hello, stranger!";
    })
    .tool("order", { description: "Takes an order with a form that has every kind of field" }, async function* () {
      const answer = yield* elicit({ message: "What would you like?", requestedSchema: orderForm });
      return answer.action === "accept"
        ? { structuredContent: answer.content, content: [{ type: "text", text: `Ordered: ${JSON.stringify(answer.content)}` }] }
        : `Not ordered (${answer.action}).`;
    })
    .tool("sign-in", { description: "Sends you to a page, and waits until you say that you were there" }, async function* (_, ctx) {
      const url = `https://example.com/sign-in?demo=${encodeURIComponent(ctx.client.protocolVersion)}`;
      const answer = yield* elicit({ mode: "url", message: "Please sign in on this page.", url, elicitationId: crypto.randomUUID() });
      return answer.action === "accept" ? "Signed in (not really)." : `Not signed in (${answer.action}).`;
    })
    .tool(
      "ask-model",
      {
        description: "Asks the client's model",
        input: { type: "object", properties: { question: { type: "string", default: "What is two and two?" } } },
      },
      async function* (args) {
        const question = String(args["question"] ?? "What is two and two?");
        const { model, content } = yield* sample({
          messages: [{ role: "user", content: { type: "text", text: question } }],
          maxTokens: 200,
        });
        return `${model} says: ${JSON.stringify(content)}`;
      },
    )
    .tool("list-roots", { description: "Lists the roots that the client offers" }, async function* () {
      const { roots: found } = yield* roots();
      return found.length === 0 ? "no roots" : found.map(({ uri, name }) => (name === undefined ? uri : `${name}  ${uri}`)).join("\n");
    });
}

const orderForm = {
  type: "object",
  properties: {
    dish: {
      type: "string",
      title: "Dish",
      oneOf: [
        { const: "soup", title: "Soup of the day" },
        { const: "pie", title: "Cherry pie" },
      ],
    },
    portions: { type: "integer", title: "Portions", minimum: 1, maximum: 9, default: 1 },
    extras: { type: "array", title: "Extras", items: { enum: ["bread", "salt", "cream"] }, default: ["bread"] },
    spicy: { type: "boolean", title: "Spicy", default: false },
    email: { type: "string", title: "E-mail", format: "email", description: "For the receipt" },
  },
  required: ["dish", "portions"],
} as const;
