import type { Era } from "../raw/types.js";
import type { Script } from "../script.js";
import { call, complete, integerNames, numbers, spellings } from "./texts.js";

/** Numbers and names of which a JavaScript value says less than the text. */
export function values(era: Era): Script[] {
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
