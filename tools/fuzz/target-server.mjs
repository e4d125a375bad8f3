// A server on one wire, in a process of its own: what it does with bad frames must not end it. Argument: the address.
import { createServer, elicit, serve } from "../../dist/api/index.js";
import { answerMemory } from "./memory.mjs";

const server = createServer({ name: "target", version: "1" })
  .tool("echo", { input: { type: "object", properties: { text: { type: "string" } } } }, ({ text }) => String(text))
  .tool("greet", {}, async function* () {
    const answer = yield* elicit({ message: "who?", requestedSchema: { type: "object", properties: { name: { type: "string" } } } });
    return JSON.stringify(answer);
  })
  .resource({ uri: "demo://readme", name: "readme" }, () => "x".repeat(100))
  .prompt("review", { arguments: [{ name: "a" }] }, () => "review");

const listener = await serve(server, process.argv[2], { maxSessions: 500 });
answerMemory();
process.send({ address: listener.address });
