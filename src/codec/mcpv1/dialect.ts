import { type Dialect, dialect, type MessageSpec, type Table } from "../protobuf/index.js";
import { OTHER_MEMBERS } from "./fields.js";
import { content } from "./tables/content.js";
import { lifecycle } from "./tables/lifecycle.js";
import { prompts } from "./tables/prompts.js";
import { resources } from "./tables/resources.js";
import { streams } from "./tables/streams.js";
import { tools } from "./tables/tools.js";

/** Every message that stands for a JSON object. */
export const messages: readonly MessageSpec[] = [...lifecycle, ...tools, ...content, ...resources, ...prompts, ...streams];

export const mcpv1: Dialect = dialect({
  name: "mcp.v1",
  messages,
  enums: { Role: ["", "user", "assistant"], ResourceChangeType: ["", "created", "modified", "deleted"] },
  others: OTHER_MEMBERS,
});

export function tableOf(name: string): Table {
  return mcpv1.tableOf(name);
}
