import type { Readable } from "node:stream";
import type { Take } from "./types.js";

/** Hands on the `data` of server-sent events, and their `event` if they have one. */
export function events(stream: Readable, take: (data: string, event: string | undefined) => void): void {
  let text = "";
  stream.setEncoding("utf8");
  stream.on("data", (chunk: string) => {
    text += chunk;
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const fields = text.slice(0, end).split("\n");
      text = text.slice(end + 2);
      const of = (name: string): string[] =>
        fields.filter((line) => line.startsWith(`${name}:`)).map((line) => line.slice(name.length + 1).trimStart());
      const data = of("data");
      if (data.length > 0 && data.join("") !== "") take(data.join("\n"), of("event")[0]);
    }
  });
  stream.on("error", () => {});
}

/** Hands on the one message of a body. */
export function body(stream: Readable, take: Take): void {
  let text = "";
  stream.setEncoding("utf8");
  stream.on("data", (chunk: string) => (text += chunk));
  stream.on("end", () => text.trim() !== "" && take(text));
  stream.on("error", () => {});
}
