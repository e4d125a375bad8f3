import type { Server } from "anywire";
import { embedded, image, text } from "./samples.js";

export function addPrompts(server: Server): void {
  server
    .prompt("test_simple_prompt", { description: "A prompt without arguments" }, () => "This is a simple prompt for testing.")
    .prompt(
      "test_prompt_with_arguments",
      {
        description: "A prompt with two arguments",
        arguments: {
          arg1: {
            description: "First test argument",
            required: true,
            complete: (value) => ["paris", "park", "party", "test1", "test2"].filter((each) => each.startsWith(value)),
          },
          arg2: { description: "Second test argument", required: true },
        },
      },
      ({ arg1, arg2 }) => `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`,
    )
    .prompt(
      "test_prompt_with_embedded_resource",
      {
        description: "A prompt with a resource",
        arguments: { resourceUri: { description: "URI of the resource to embed", required: true } },
      },
      ({ resourceUri }) => [
        { role: "user", content: embedded(resourceUri, "text/plain", "Embedded resource content for testing.") },
        { role: "user", content: text("Please process the embedded resource above.") },
      ],
    )
    .prompt("test_prompt_with_image", { description: "A prompt with an image" }, () => [
      { role: "user", content: image },
      { role: "user", content: text("Please analyze the image above.") },
    ]);
}
