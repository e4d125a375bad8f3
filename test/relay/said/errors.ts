import type { Script } from "../script.js";
import { call, odd } from "./texts.js";

/** What goes wrong, and what stands beside params, result and error. */
export function errors(): Script[] {
  const fail = (name: string, error: string, method = "tools/call", params = '"name":"e","arguments":{}'): Script =>
    call({ method, name, params, answer: { error } });
  return [
    fail("error", `"code":-32000,"message":"Failed é","data":{${odd}}`),
    fail("header mismatch", '"code":-32020,"message":"m","data":{"h":1}'),
    fail("error without data", '"code":-1,"message":""'),
    fail("error with null data", '"code":-32602,"message":"m","data":null'),
    fail("error with unknown members", '"code":-32603,"message":"m","x-error":{"y":[]},"data":"d"'),
    fail("error of a vendor", '"code":4000000000,"message":"m","data":[1]', "vendor/do", '"x":1'),
    fail("error of a read", '"code":-32002,"message":"not found","data":{"uri":"test://x"}', "resources/read", '"uri":"test://x"'),
    fail("error of a URL that is required", '"code":-32042,"message":"m","data":{"elicitations":[]}'),
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
