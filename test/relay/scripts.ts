import type { Eras } from "./chain.js";
import type { Era } from "./raw/types.js";
import type { Script } from "./script.js";

/** Values that careless code changes, each under a name that says what it is. */
const odd =
  '"z":1,"a":{"nested":[],"empty":{},"nil":null},"list":[null,[],{},"",0,false,[[]]],"text":"é😀\\u2028\\u0000\\ufeff","half":"\\ud800x","__proto__":{"x":1},"constructor":null,"":"no name"';
const integerNames = '"b":1,"10":"ten","a":{"z":0,"2":"two","1":"one"}';
const numbers =
  '"big":12345678901234567890,"negative":-9007199254740993,"huge":1e400,"-huge":-1e400,"zero":-0,"zeros":[-0,-0.0],"deep":{"in":[{"big":9007199254740993}]}';
const spellings = '"one":1.0,"exp":1E5,"plus":1e+2,"tiny":1e-7,"long":0.12345678901234567890,"under":1e-400';
const content = `"content":[{"type":"text","text":"é","annotations":{"audience":["user","assistant"],"priority":0.5,"lastModified":"2026-01-01T00:00:00Z","x":1},"_meta":{"k":null},"x-c":{}},{"type":"image","data":"AAEC","mimeType":"image/png"},{"type":"audio","data":"AAEC","mimeType":"audio/wav"},{"type":"resource","resource":{"uri":"test://a","mimeType":"text/plain","text":"t","_meta":{"m":1},"x-r":[]}},{"type":"resource","resource":{"uri":"test://b","blob":"AAEC"}},{"type":"resource_link","uri":"test://c","name":"c","title":"C","size":3,"icons":[{"src":"https://example.com/i.png","mimeType":"image/png","sizes":["48x48"],"theme":"dark"}]},{"type":"x-vendor","what":{"ever":[1]}}]`;
const icons = '"icons":[{"src":"https://example.com/i.png","mimeType":"image/png","sizes":["48x48","any"],"theme":"light","x":1}]';
const meta =
  '"com.example/key":{"b":1,"a":[null]},"plain":"p","traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01","tracestate":"a=1","baggage":"k=v"';

type Call = Omit<Extract<Script, { kind: "call" }>, "kind" | "name"> & { readonly name?: string };

function call(one: Call): Script {
  return { kind: "call", name: one.method, ...one };
}

/** What a result of the era has to say beside its own members. */
function complete(era: Era, cached = false): string {
  return era === "legacy" ? "" : `"resultType":"complete",${cached ? '"ttlMs":1000,"cacheScope":"public",' : ""}`;
}

/** Every method of the revision that has an answer, and a vendor's. */
function methods(era: Era): Script[] {
  const done = complete(era);
  const cached = complete(era, true);
  return [
    call({
      method: "tools/call",
      params: `"name":"tool é","arguments":{${odd}},"x-params":{"y":[]}`,
      meta,
      answer: { result: `${done}${content},"structuredContent":{${odd}},"isError":true,"x-result":null,"_meta":{"m":{}}` },
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

/** Numbers and names of which a JavaScript value says less than the text. */
function values(era: Era): Script[] {
  const done = complete(era);
  return [numbers, spellings, integerNames].flatMap((members, index) => {
    const name = ["numbers", "spellings", "integer names"][index] as string;
    return [
      call({
        method: "tools/call",
        name,
        params: `"name":"n","arguments":{${members}}`,
        meta: `"x":{${members}}`,
        answer: {
          result: `${done}"content":[{"type":"text","text":"n","x":{${members}}}],"structuredContent":{${members}},"_meta":{${members}}`,
        },
      }),
      call({ method: "vendor/numbers", name: `${name}, vendor`, params: members, answer: { result: `${done}${members}` } }),
      call({
        method: "tools/call",
        name: `${name}, error`,
        params: '"name":"n"',
        answer: { error: `"code":-32000,"message":"m","data":{${members}}` },
      }),
    ];
  });
}

function errors(): Script[] {
  const fail = (name: string, error: string, method = "tools/call", params = '"name":"e","arguments":{}'): Script =>
    call({ method, name, params, answer: { error } });
  return [
    fail("error", `"code":-32000,"message":"Failed é","data":{${odd}}`),
    fail("error without data", '"code":-1,"message":""'),
    fail("error with null data", '"code":-32602,"message":"m","data":null'),
    fail("error with unknown members", '"code":-32603,"message":"m","x-error":{"y":[]},"data":"d"'),
    fail("error of a vendor", '"code":4000000000,"message":"m","data":[1]', "vendor/do", '"x":1'),
    fail("error of a read", '"code":-32002,"message":"not found","data":{"uri":"test://x"}', "resources/read", '"uri":"test://x"'),
    fail("error of a list", '"code":-32001,"message":"m\\ud800","data":{"y":[]}', "tools/list", '"x":1'),
    fail("error of a prompt", `"code":-32001,"message":"${"語".repeat(900)}","data":"${"d".repeat(6000)}"`, "prompts/get", '"name":"p"'),
    fail("unknown method", '"code":-32601,"message":"nope","data":{"m":1}', "vendor/none", ""),
    call({
      method: "tools/call",
      name: "members beside params and result",
      params: '"name":"x"',
      extra: '"x-envelope":{"a":[null]}',
      answer: { result: '"content":[]', extra: '"x-envelope":1' },
    }),
    call({
      method: "tools/call",
      name: "params beside a result",
      params: '"name":"x"',
      answer: { result: '"content":[]', extra: '"params":{"kept":true}' },
    }),
    call({
      method: "tools/call",
      name: "members beside an error",
      params: '"name":"x"',
      answer: { error: '"code":-1,"message":"m"', extra: '"x-envelope":[]' },
    }),
  ];
}

/** What comes before an answer. */
function during(client: Era, era: Era): Script[] {
  const done = complete(era);
  const log = client === "legacy" ? "" : ',"io.modelcontextprotocol/logLevel":"debug"';
  const one = { method: "tools/call", params: '"name":"steps","arguments":{}', answer: { result: `${done}"content":[]` } } as const;
  return [
    call({
      ...one,
      name: "progress",
      meta: '"progressToken":@token',
      steps: [
        { note: "notifications/progress", params: '"progressToken":@token,"progress":1' },
        {
          note: "notifications/progress",
          params: '"progressToken":@token,"progress":1.5,"total":2,"message":"half é","x":{"y":null},"_meta":{"p":1}',
        },
      ],
    }),
    call({
      ...one,
      name: "logs",
      meta: `"k":1${log}`,
      steps: [
        { note: "notifications/message", params: `"level":"info","logger":"l","data":{${odd}},"x":1,"_meta":{"l":1}` },
        { note: "notifications/message", params: '"level":"emergency","data":null' },
      ],
    }),
    call({
      ...one,
      name: "notifications of a vendor",
      steps: [
        { note: "notifications/vendor/news", params: odd },
        { note: "notifications/vendor/bare" },
        { note: "notifications/vendor/empty", params: "" },
        { note: "notifications/vendor/extra", params: '"a":1', extra: '"x-envelope":1' },
      ],
    }),
    call({
      method: "resources/read",
      name: "progress of a read",
      params: '"uri":"test://steps"',
      meta: `"progressToken":@token${log}`,
      answer: { result: `${complete(era, true)}"contents":[{"uri":"test://steps","text":"t"}]` },
      steps: [
        { note: "notifications/progress", params: '"progressToken":@token,"progress":0.25' },
        { note: "notifications/message", params: '"level":"info","data":"read"' },
      ],
    }),
    call({
      method: "vendor/do",
      name: "progress of a vendor's call",
      params: '"x":1',
      meta: '"progressToken":@token',
      answer: { result: `${done}"x":1` },
      steps: [{ note: "notifications/progress", params: '"progressToken":@token,"progress":1' }],
    }),
  ];
}

/** Of the legacy era alone: a session, its questions and its own requests. */
function session(): Script[] {
  const ask = (
    name: string,
    method: string,
    params: string | undefined,
    answer: Extract<import("./script.js").Step, { ask: string }>["answer"],
  ): Script =>
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

/** Of the modern era alone. */
function stateless(): Script[] {
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

/** What a legacy client says of its session, to a server that knows no sessions. */
function legacyWords(): Script[] {
  return [call({ method: "logging/setLevel", params: '"level":"warning"', answer: { result: "" } })];
}

/** What is said by a client of one era to a server of one. */
export function scripts({ client, server }: Eras): readonly Script[] {
  const common = [...methods(server), ...values(server), ...errors(), ...during(client, server)];
  if (client !== server) return client === "legacy" ? [...common, ...legacyWords()] : common;
  return [...common, ...(client === "legacy" ? session() : stateless())];
}
