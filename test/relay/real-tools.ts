import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Eras } from "./chain.js";
import { at, exact, textOf } from "./json.js";
import type { Script } from "./script.js";

/** The lists of tools of real servers, as their texts: a folder of JSON files that have `tools`. */
export function realTools(folder: string): ((eras: Eras) => Script)[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".json"))
    .flatMap((name) => {
      const tools = at(exact(readFileSync(join(folder, name), "utf8")), "tools");
      if (tools === undefined) return [];
      const text = textOf(tools);
      return [
        ({ server }: Eras): Script => ({
          kind: "call",
          name,
          method: "tools/list",
          params: "",
          answer: { result: `${server === "modern" ? '"resultType":"complete",' : ""}"tools":${text}` },
        }),
      ];
    });
}
