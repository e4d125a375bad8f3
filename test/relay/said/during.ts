import type { Era } from "../raw/types.js";
import type { Script } from "../script.js";
import { call, complete, odd } from "./texts.js";

/** What comes before an answer. */
export function during(client: Era, era: Era): Script[] {
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
