import type { JsonObject } from "../../api/index.js";
import { isObject } from "../../core/index.js";
import { bytesText } from "./amount.js";
import { cleanLine } from "./clean.js";
import type { Style } from "./style.js";

/** A content block for a person. Content other than text is named, not shown. */
export function contentText(block: JsonObject, style: Style): string {
  const { type, text, data, mimeType, resource } = block;
  const named = (what: string, ...about: unknown[]): string =>
    style.dim(`[${cleanLine([what, ...about.filter((each) => each !== undefined)].join(" "))}]`);
  if (type === "text") return String(text);
  if (type === "image" || type === "audio") return named(type, mimeType, base64Text(data));
  if (type === "resource_link") {
    const { uri, name, description, size } = block;
    return named("link", name, `<${uri}>`, mimeType, typeof size === "number" ? bytesText(size) : undefined, description);
  }
  if (type === "resource" && isObject(resource)) {
    const head = named("resource", `<${resource["uri"]}>`, resource["mimeType"], base64Text(resource["blob"]));
    if (typeof resource["text"] !== "string") return head;
    return `${head}\n${resource["text"]}`;
  }
  return JSON.stringify(block);
}

function base64Text(data: unknown): string | undefined {
  if (typeof data !== "string") return undefined;
  return bytesText(Math.floor((data.replace(/=+$/, "").length * 3) / 4));
}
