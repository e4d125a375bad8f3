import type { Server } from "../api/index.js";
import { picture } from "./contents.js";

const people = ["Ada", "Alan", "Barbara", "Donald", "Edsger", "Grace", "Ken", "Leslie", "Margaret"];
const tones: Readonly<Record<string, readonly string[]>> = { Ada: ["poetical", "precise"], Grace: ["frank", "salty"] };
const starting = (value: string, all: readonly string[]): readonly string[] =>
  all.filter((each) => each.toLowerCase().startsWith(value.toLowerCase()));

export function addPrompts(server: Server): void {
  server
    .prompt(
      "introduce",
      {
        description: "Introduces someone",
        arguments: {
          who: { description: "Whom", required: true, complete: (value) => starting(value, people) },
          tone: {
            description: "How; which tones there are depends on who",
            complete: (value, ctx) => starting(value, tones[ctx.arguments["who"] ?? ""] ?? ["dry", "warm"]),
          },
        },
      },
      ({ who, tone }) => `Introduce ${who} in one sentence${tone === undefined ? "" : `, in a ${tone} tone`}.`,
    )
    .prompt("describe-picture", { description: "Shows a picture and a note, and asks about them" }, () => [
      { role: "user", content: picture() },
      { role: "user", content: { type: "resource", resource: { uri: "demo://note", mimeType: "text/plain", text: "It is a gradient." } } },
      { role: "assistant", content: { type: "text", text: "I see it." } },
      { role: "user", content: { type: "text", text: "What is in the picture?" } },
    ]);
}
