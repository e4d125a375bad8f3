import { isObject, jsonText } from "../../core/index.js";

/** The most characters of a comment. */
const LONGEST = 4_000;

/** The comment for a schema: description or title, the default, and the format if no rule covers it. */
export function commentOf(schema: unknown): string {
  if (!isObject(schema)) return "";
  const { description, title } = schema;
  const parts = [typeof description === "string" ? description : typeof title === "string" ? title : ""];
  if ("default" in schema) parts.push(`Default: ${jsonText(schema["default"])}`);
  return parts
    .filter((part) => part.trim() !== "")
    .join("\n")
    .slice(0, LONGEST)
    .replace(/[^\P{C}\n\t]/gu, "")
    .trim();
}
