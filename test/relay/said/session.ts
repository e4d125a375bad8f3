import type { Script, Step } from "../script.js";
import { call, meta, numbers, odd } from "./texts.js";

export const unasked: Script = {
  kind: "server note",
  name: "updated, and nobody subscribed",
  method: "notifications/resources/updated",
  params: '"uri":"test://unasked","x":1',
};

/** Of the legacy era alone: a session, its questions and its own requests. */
export function session(): Script[] {
  const ask = (name: string, method: string, params: string | undefined, answer: Extract<Step, { ask: string }>["answer"]): Script =>
    call({
      method: "tools/call",
      name,
      params: '"name":"asks","arguments":{}',
      answer: { result: '"content":[]' },
      steps: [{ ask: method, answer, ...(params === undefined ? undefined : { params }) }],
    });
  return [
    call({ method: "ping", answer: { result: "" } }),
    call({ method: "ping", name: "ping with more", params: '"x":1', meta, answer: { result: '"x-pong":1,"_meta":{"y":1}' } }),
    call({ method: "logging/setLevel", params: '"level":"warning"', answer: { result: "" } }),
    call({
      method: "logging/setLevel",
      name: "set a lower level",
      params: '"level":"debug","x-level":1',
      meta,
      answer: { result: '"x-set":true' },
    }),
    call({ method: "logging/setLevel", name: "set a higher level again", params: '"level":"error"', answer: { result: "" } }),
    call({ method: "logging/setLevel", name: "set the lowest level", params: '"level":"debug"', answer: { result: "" } }),
    call({
      method: "tools/call",
      name: "members of the other era",
      params: '"name":"x"',
      answer: { result: `"content":[],"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"n","version":"1"}}` },
    }),
    call({
      method: "tools/list",
      name: "a list with members of the other era",
      params: '"x":1',
      answer: { result: '"tools":[],"resultType":"complete","ttlMs":5,"cacheScope":"private"' },
    }),
    call({
      method: "resources/subscribe",
      params: '"uri":"test://a","x-sub":1',
      meta,
      answer: { result: '"x-subscribed":1,"_meta":{"s":1}' },
    }),
    { kind: "server note", name: "updated", method: "notifications/resources/updated", params: '"uri":"test://a","x":1', meta: '"n":1' },
    {
      kind: "server note",
      name: "updated five times",
      method: "notifications/resources/updated",
      params: '"uri":"test://a","x":@n',
      meta: '"n":@n',
      times: 5,
    },
    call({ method: "resources/unsubscribe", params: '"uri":"test://a","x-sub":1', answer: { result: '"x-left":1' } }),
    unasked,
    ...["tools", "prompts", "resources"].map(
      (list): Script => ({
        kind: "server note",
        name: `${list} changed`,
        method: `notifications/${list}/list_changed`,
        meta: '"k":{"v":[]}',
      }),
    ),
    { kind: "server note", name: "changed without params", method: "notifications/tools/list_changed" },
    {
      kind: "server note",
      name: "log of no call",
      method: "notifications/message",
      params: `"level":"error","logger":"l","data":{${odd}},"x":1`,
    },
    { kind: "server note", name: "vendor's of no call", method: "notifications/vendor/news", params: odd },
    {
      kind: "server note",
      name: "elicitation complete",
      method: "notifications/elicitation/complete",
      params: '"elicitationId":"e","x":1',
    },
    {
      kind: "server note",
      name: "task status",
      method: "notifications/tasks/status",
      params: '"taskId":"t","status":"working","ttl":null',
    },
    { kind: "client note", name: "roots changed", method: "notifications/roots/list_changed", meta },
    { kind: "client note", name: "vendor's of a client", method: "notifications/vendor/said", params: odd, meta, extra: '"x-envelope":1' },
    { kind: "client note", name: "bare of a client", method: "notifications/vendor/bare" },
    { kind: "client note", name: "empty of a client", method: "notifications/vendor/empty", params: "" },
    { kind: "client note", name: "numbers of a client", method: "notifications/vendor/numbers", params: numbers },
    ask(
      "elicitation",
      "elicitation/create",
      `"message":"m","requestedSchema":{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"number"}}},"x-ask":{${odd}},"_meta":{"q":1}`,
      { result: '"action":"accept","content":{"z":"é","a":1.5},"x-answer":null,"_meta":{"a":1}' },
    ),
    ask("elicitation by URL", "elicitation/create", '"mode":"url","message":"m","url":"https://example.com","elicitationId":"e"', {
      result: '"action":"decline"',
    }),
    call({
      method: "tools/call",
      name: "progress of a question",
      params: '"name":"asks"',
      answer: { result: '"content":[]' },
      steps: [
        {
          ask: "elicitation/create",
          params: '"message":"m","requestedSchema":{"type":"object","properties":{}},"_meta":{"progressToken":"asked"}',
          said: { method: "notifications/progress", params: '"progressToken":@token,"progress":0.5,"message":"m","x":1' },
          answer: { result: '"action":"cancel"' },
        },
      ],
    }),
    call({
      method: "tools/call",
      name: "cancelled",
      params: '"name":"c"',
      answer: "none",
      steps: [{ said: "notifications/cancelled", params: '"requestId":@id,"reason":"why é","x":1,"_meta":{"k":1}' }],
    }),
    { kind: "server note", name: "null params", method: "notifications/vendor/null", whole: "null" },
    { kind: "client note", name: "null params of a client", method: "notifications/vendor/null", whole: "null" },
    ask(
      "sampling",
      "sampling/createMessage",
      '"messages":[{"role":"user","content":{"type":"text","text":"t"}}],"maxTokens":10,"modelPreferences":{"hints":[{"name":"h"}],"costPriority":0.5},"metadata":{"k":null},"x":1',
      { result: '"role":"assistant","content":{"type":"text","text":"a"},"model":"m","stopReason":"endTurn","x":1' },
    ),
    ask("roots", "roots/list", undefined, { result: '"roots":[{"uri":"file:///a","name":"a","_meta":{"r":1}}],"x":1' }),
    ask("question refused", "elicitation/create", '"message":"m","requestedSchema":{"type":"object","properties":{}}', {
      error: '"code":-1,"message":"no é","data":{"why":[null]},"x-error":1',
    }),
    ask("question of a vendor", "vendor/ask", odd, { result: odd }),
    ask("ping of a server", "ping", undefined, { result: "" }),
  ];
}

/** What a legacy client says of its session, to a server that knows no sessions. */
export function legacyWords(): Script[] {
  return [call({ method: "logging/setLevel", params: '"level":"warning"', answer: { result: "" } })];
}
