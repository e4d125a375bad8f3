import type { Era } from "../raw/types.js";
import type { Script } from "../script.js";
import { call, complete, content, icons, meta, odd } from "./texts.js";

/** Every method of the revision that has an answer, and a vendor's. */
export function methods(era: Era): Script[] {
  const done = complete(era);
  const cached = complete(era, true);
  return [
    call({
      method: "tools/call",
      params: `"name":"tool é","arguments":{${odd}},"x-params":{"y":[]}`,
      meta,
      answer: { result: `${done}${content},"structuredContent":{${odd}},"isError":true,"x-result":null,"_meta":{"m":{}}` },
    }),
    call({
      method: "tools/call",
      name: "a token and a trace of other types",
      params: '"name":"t"',
      meta: '"k":1,"progressToken":null,"traceparent":5',
      answer: { result: `${done}"content":[]` },
    }),
    call({ method: "tools/call", name: "half a name", params: '"name":"a\\ud800b"', answer: { result: `${done}"content":[]` } }),
    call({ method: "tools/call", name: "tool without arguments", params: '"name":"bare"', answer: { result: `${done}"content":[]` } }),
    call({
      method: "tools/call",
      name: "structured content of any kind",
      params: '"name":"s","arguments":{}',
      answer: { result: `${done}"content":[],"structuredContent":[1,{"b":2,"a":null}]` },
    }),
    call({
      method: "tools/list",
      meta,
      answer: {
        result: `${cached}"tools":[{"name":"b","title":"B","description":"d","inputSchema":{"type":"object","properties":{"z":{"type":"string"},"a":{"const":null}},"$schema":"https://json-schema.org/draft/2020-12/schema","required":[]},"outputSchema":{"type":"object"},"annotations":{"title":"T","readOnlyHint":false,"destructiveHint":true,"idempotentHint":false,"openWorldHint":true,"x":0},${icons},"execution":{"taskSupport":"optional"},"_meta":{"k":1},"x-tool":{}},{"name":"a","inputSchema":{"type":"object"}}],"nextCursor":"p 2é","x-page":{"z":1,"a":2},"_meta":{"page":1}`,
      },
    }),
    call({
      method: "tools/list",
      name: "next page",
      params: '"cursor":"p 2é"',
      answer: { result: `${cached}"tools":[],"_meta":{"page":2}` },
    }),
    ...["null", "5", '{"after":["a"]}'].map((cursor) =>
      call({
        method: "prompts/list",
        name: `a cursor that is ${cursor}`,
        params: `"cursor":${cursor}`,
        answer: { result: `${cached}"prompts":[{"name":"p","arguments":[]}],"nextCursor":${cursor}` },
      }),
    ),
    call({
      method: "resources/list",
      params: '"x-list":1',
      answer: {
        result: `${cached}"resources":[{"uri":"test://a","name":"a","title":"A","description":"d","mimeType":"text/plain","size":0,"annotations":{"audience":["assistant"],"priority":1},${icons},"_meta":{"r":[]},"x-r":null}],"nextCursor":""`,
      },
    }),
    call({
      method: "resources/templates/list",
      answer: {
        result: `${cached}"resourceTemplates":[{"uriTemplate":"test://{a}","name":"t","title":"T","mimeType":"text/plain","annotations":{"audience":[]},"_meta":{},"x-t":{}}]`,
      },
    }),
    call({
      method: "prompts/list",
      answer: {
        result: `${cached}"prompts":[{"name":"p","title":"P","description":"d","arguments":[{"name":"a","title":"A","description":"d","required":false,"x":1}],${icons},"_meta":{"p":0}}]`,
      },
    }),
    call({
      method: "resources/read",
      params: '"uri":"test://é","x-read":1',
      meta,
      answer: {
        result: `${cached}"contents":[{"uri":"test://é","mimeType":"text/plain","text":"line\\n\\u2028é😀","_meta":{"c":[]},"x-c":1},{"uri":"test://b","blob":"AAECAw==","mimeType":"application/octet-stream"},{"uri":"test://c","x-neither":true}],"x-result":{},"_meta":{"r":1}`,
      },
    }),
    call({ method: "resources/read", name: "read nothing", params: '"uri":"test://none"', answer: { result: `${cached}"contents":[]` } }),
    call({
      method: "resources/read",
      name: "odd base64",
      params: '"uri":"test://odd"',
      answer: {
        result: `${cached}"contents":[{"uri":"test://odd","blob":"AAE"},{"uri":"test://url","blob":"-_8"},{"uri":"test://half","text":"a\\ud800b"}]`,
      },
    }),
    call({
      method: "prompts/get",
      params: '"name":"p","arguments":{"b":"1","a":"é"},"x-get":[]',
      meta,
      answer: {
        result: `${done}"description":"d","messages":[{"role":"user","content":{"type":"text","text":"t"},"x-m":1},{"role":"assistant","content":{"type":"image","data":"AA==","mimeType":"image/png"}}],"_meta":{"g":1},"x-result":1`,
      },
    }),
    call({
      method: "completion/complete",
      params:
        '"ref":{"x":1,"type":"ref/prompt","name":"p","title":"P"},"argument":{"name":"a","value":"v","x-a":1},"context":{"arguments":{"b":"c"},"x-c":{}},"x-complete":0',
      answer: { result: `${done}"completion":{"values":["a","é"],"total":2,"hasMore":false,"x":1},"_meta":{}` },
    }),
    call({
      method: "completion/complete",
      name: "complete a template",
      params: '"ref":{"type":"ref/resource","uri":"test://{a}"},"argument":{"name":"a","value":""}',
      answer: { result: `${done}"completion":{"values":[]}` },
    }),
    call({ method: "vendor/do", params: odd, meta, answer: { result: `${done}${odd},"_meta":{"v":1}` } }),
    call({
      method: "vendor/twice",
      name: "two members of one name",
      params: '"a":1,"b":2,"a":3',
      answer: { result: `${done}"a":{"b":1,"b":null}` },
    }),
    call({ method: "vendor/bare", answer: { result: done.replace(/,$/, "") } }),
    call({
      method: "tasks/get",
      params: '"taskId":"t 1"',
      answer: { result: `${done}"taskId":"t 1","status":"working","createdAt":"2026-01-01T00:00:00Z","ttl":null,"pollInterval":5` },
    }),
    call({ method: "tasks/result", params: '"taskId":"t 1"', answer: { result: `${done}"content":[]` } }),
    call({ method: "tasks/list", params: '"cursor":"c"', answer: { result: `${done}"tasks":[],"nextCursor":"d"` } }),
    call({ method: "tasks/cancel", params: '"taskId":"t 1"', answer: { result: `${done}"taskId":"t 1","status":"cancelled"` } }),
  ];
}
