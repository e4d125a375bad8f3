import type { Script } from "../script.js";
import { call, meta, numbers, odd } from "./texts.js";

/** Of the modern era alone. */
export function stateless(): Script[] {
  const io = "io.modelcontextprotocol";
  const asked = `"resultType":"input_required","inputRequests":{"k é":{"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{}},"x":{${odd}}}}},"requestState":"state é","_meta":{"q":1},"x-asked":1`;
  const responses = `"inputResponses":{"k é":{"action":"accept","content":{"b":1,"a":null},"x":1}},"requestState":"state é"`;
  return [
    call({
      method: "server/discover",
      answer: { result: '"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{},"x-again":1' },
    }),
    call({ method: "tools/call", name: "asks", params: '"name":"asks","arguments":{"z":1}', answer: { result: asked } }),
    call({
      method: "tools/call",
      name: "answers",
      params: `"name":"asks","arguments":{"z":1},${responses}`,
      answer: { result: '"resultType":"complete","content":[]' },
    }),
    call({
      method: "tools/call",
      name: "another result type",
      params: '"name":"t"',
      answer: { result: '"resultType":"task","task":{"taskId":"t","status":"working"}' },
    }),
    call({
      method: "tools/call",
      name: "server info in a result",
      params: '"name":"t"',
      answer: { result: `"resultType":"complete","content":[],"_meta":{"${io}/serverInfo":{"name":"other","version":"2"}}` },
    }),
    call({
      method: "subscriptions/listen",
      params: '"notifications":{"toolsListChanged":true,"resourceSubscriptions":["test://a"],"x-note":1}',
      answer: { result: '"resultType":"complete","x-end":1' },
      steps: [
        {
          note: "notifications/subscriptions/acknowledged",
          params: `"notifications":{"toolsListChanged":true,"resourceSubscriptions":["test://a"]},"_meta":{"${io}/subscriptionId":@id,"x":1}`,
        },
        { note: "notifications/tools/list_changed", params: `"_meta":{"${io}/subscriptionId":@id,"k":1}` },
        { note: "notifications/resources/updated", params: `"uri":"test://a","x":1,"_meta":{"${io}/subscriptionId":@id,"n":1}` },
      ],
    }),
    { kind: "client note", name: "vendor's of a client", method: "notifications/vendor/said", params: odd, meta, extra: '"x-envelope":1' },
    { kind: "client note", name: "bare of a client", method: "notifications/vendor/bare" },
    { kind: "client note", name: "numbers of a client", method: "notifications/vendor/numbers", params: numbers },
  ];
}
