import { type Dialect, dialect, type MessageSpec, type Table } from "../protobuf/index.js";
import { OTHER_MEMBERS } from "./fields.js";
import { lifecycle } from "./tables/lifecycle.js";
import { prompts } from "./tables/prompts.js";
import { resources } from "./tables/resources.js";
import { tools } from "./tables/tools.js";

/** Every message that stands for a JSON object. */
export const messages: readonly MessageSpec[] = [...lifecycle, ...tools, ...resources, ...prompts];

export const bufmcpv1: Dialect = dialect({ name: "buf.mcp.v1", messages, others: OTHER_MEMBERS });

export function tableOf(name: string): Table {
  return bufmcpv1.tableOf(name);
}
