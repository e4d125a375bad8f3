import { jsonText, listMembers } from "../../core/index.js";
import type { AnswerPart } from "../jsonrpc.js";
import type { Table } from "../protobuf/index.js";
import { answerForBase, baseText } from "./base.js";
import { mcpv1Table } from "./dialect.js";
import { isListMethod, itemTables, type RestPart } from "./items.js";

const restTable = mcpv1Table("ResultRest");
const contentsTable = mcpv1Table("ResourceContents");

/** Whether a base client can use a part: it would take the end of a page, or the rest of a list, for an empty item. */
export function isForBase(method: string, part: AnswerPart | RestPart): boolean {
  if (part.kind === "rest") answerForBase(restTable, part.value, "result");
  return !isListMethod(method) || part.kind === "item";
}

/** An item in a form for a base client. */
export function listPartForBase(method: string, part: AnswerPart | RestPart): AnswerPart | RestPart {
  if (part.kind !== "item") return part;
  const { name } = part.value;
  const path = `result.${listMembers.get(method)}[${jsonText(name)}]`;
  return { ...part, value: answerForBase(itemTables.get(method) as Table, part.value, path) };
}

/** Throws if a base client could not read a part of a resource. */
export function checkChunkForBase(part: AnswerPart | RestPart): void {
  if (part.kind === "content") answerForBase(contentsTable, part.head, "result.contents[]");
  else if (part.kind === "chunk" && typeof part.data === "string") baseText(part.data, "result.contents[].text");
  else if (part.kind === "rest") answerForBase(restTable, part.value, "result");
}
