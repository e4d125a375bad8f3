import type { DescMessage } from "@bufbuild/protobuf";
import { pascalCase } from "../convert/names.js";
import type { MessageSet } from "../descriptors.js";
import { unresolved } from "./fault.js";

/** The messages of a tool. */
export interface StoredToolMessages {
  readonly input: DescMessage;
  /** Undefined if the tool has no output message. */
  readonly output?: DescMessage | undefined;
}

/** The full names of the messages, if they do not follow the naming convention. */
export interface MessageNames {
  readonly input?: string | undefined;
  readonly output?: string | undefined;
}

/**
 * Finds the messages of a tool. `symbol` is the full name of the input message, that name without `Request`, or the name of a tool:
 * `web_search` has `WebSearchRequest` and `WebSearchResponse`. Without it, the set must have exactly one message whose name ends in
 * `Request`.
 */
export function pickMessages(set: MessageSet, symbol: string | undefined, names: MessageNames = {}): StoredToolMessages {
  const input = names.input === undefined ? inputOf(set, symbol) : demand(set, names.input);
  if (names.output !== undefined) return { input, output: demand(set, names.output) };
  const scope = input.typeName.slice(0, input.typeName.length - input.name.length);
  return { input, output: set.get(`${scope}${input.name.replace(/Request$/, "")}Response`) };
}

function inputOf(set: MessageSet, symbol: string | undefined): DescMessage {
  if (symbol === undefined)
    return only(
      [...topLevel(set)].filter(({ name }) => name.endsWith("Request")),
      "a message that ends in Request",
    );
  if (symbol.includes(".")) {
    const found = set.get(symbol) ?? set.get(`${symbol}Request`);
    if (found === undefined) throw unresolved("message", `the module has no message ${symbol} and no ${symbol}Request`);
    return found;
  }
  const wanted = pascalCase(symbol);
  for (const name of [`${wanted}Request`, wanted, symbol]) {
    const found = [...topLevel(set)].filter((message) => message.name === name);
    if (found.length > 0) return only(found, name);
  }
  throw unresolved("message", `the module has no message ${wanted}Request or ${wanted} for the tool ${symbol}`);
}

function only(found: readonly DescMessage[], what: string): DescMessage {
  const [first] = found;
  if (first === undefined) throw unresolved("message", `the descriptors have no ${what.replace(/^a /, "")}`);
  if (found.length > 1)
    throw unresolved(
      "message",
      `it is not clear which message is meant by ${what}: ${found
        .slice(0, 5)
        .map(({ typeName }) => typeName)
        .join(", ")}`,
    );
  return first;
}

function demand(set: MessageSet, name: string): DescMessage {
  const found = set.get(name);
  if (found === undefined) throw unresolved("message", `the module has no message ${name}`);
  return found;
}

function* topLevel(set: MessageSet): Generator<DescMessage> {
  for (const message of set) if (message.parent === undefined) yield message;
}
