import { type Dialect, dialect, type MessageSpec, type Table } from "../protobuf/index.js";
import { OTHERS_NUMBER } from "./fields.js";
import { content } from "./tables/content.js";
import { lifecycleMessages } from "./tables/lifecycle.js";
import { promptMessages } from "./tables/prompts.js";
import { resourceMessages } from "./tables/resources.js";
import { streams } from "./tables/streams.js";
import { toolMessages } from "./tables/tools.js";

/** Every message that stands for a JSON object. */
export const mcpv1Messages: readonly MessageSpec[] = [
  ...lifecycleMessages,
  ...toolMessages,
  ...content,
  ...resourceMessages,
  ...promptMessages,
  ...streams,
];

export const mcpv1: Dialect = dialect({
  name: "mcp.v1",
  messages: mcpv1Messages,
  enums: { Role: ["", "user", "assistant"], ResourceChangeType: ["", "created", "modified", "deleted"] },
  others: OTHERS_NUMBER,
});

export function mcpv1Table(name: string): Table {
  return mcpv1.tableOf(name);
}
