import type { IncomingRequest } from "../../codec/index.js";
import { Caller, Canceller, type Client, Fault, isObject, modernVersions, type Service, withoutCredentials } from "../../core/index.js";
import type { Exchange } from "../../io/index.js";
import { overtime } from "../../stream/index.js";
import { mirrorsEncoded } from "./headers.js";
import { argumentAt, type ParamHeader } from "./param-headers.js";
import { ToolHeaders } from "./tool-headers.js";

/** Checks that the `Mcp-Param-*` headers of tool calls match their arguments. */
export interface ParamCheck {
  /** Notes the tools of a list result. */
  learn(result: unknown, principal: string | undefined): void;
  /**
   * Returns what is wrong with a call's headers. If a call has such headers for an unknown tool, the tool is looked up. A call without them
   * is checked against the tools that lists have shown so far.
   */
  check(exchange: Exchange, request: IncomingRequest, principal: string | undefined): Promise<Fault | undefined> | Fault | undefined;
}

export function paramCheck(service: Service): ParamCheck {
  const tools = new ToolHeaders();
  return {
    learn(result, principal) {
      const listed = isObject(result) ? result["tools"] : undefined;
      if (Array.isArray(listed)) for (const tool of listed) tools.learn(tool, principal);
    },
    check(exchange, { params }, principal) {
      const known = tools.of(params["name"], principal);
      if (known !== undefined) return compare(exchange, known, params["arguments"]);
      if (!Object.keys(exchange.headers).some((name) => name.startsWith("mcp-param-"))) return undefined;
      return look(service, exchange, tools, params["name"], principal).then((found) => compare(exchange, found, params["arguments"]));
    },
  };
}

function compare(exchange: Exchange, known: readonly ParamHeader[], args: unknown): Fault | undefined {
  for (const { header, path } of known) {
    const value = argumentAt(args, path);
    const sent = exchange.header(header);
    if (value === undefined && sent === undefined) continue;
    const fault =
      value === undefined
        ? new Fault("header-mismatch", `the header ${header} mirrors an argument that is not there`)
        : mirrorsEncoded(header, sent, value);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** Reads the list of tools until it finds the one that is called. */
async function look(
  service: Service,
  exchange: Exchange,
  tools: ToolHeaders,
  name: unknown,
  principal: string | undefined,
): Promise<readonly ParamHeader[]> {
  const cancel = new Canceller();
  const stop = exchange.onGone(() => cancel.fire(new Fault("cancelled", "the client closed the stream")));
  const client: Client = {
    identity: new Caller({ principal, span: "call" }),
    era: "modern",
    protocolVersion: modernVersions[0],
    capabilities: {},
  };
  try {
    const replies = service.call(
      { method: "tools/list", params: {} },
      { client, cancel, progress: false, metadata: withoutCredentials(exchange.headers) },
    );
    let round = 0;
    for await (const reply of replies) {
      const rest = overtime(++round);
      if (rest !== undefined) await rest;
      if (reply.kind !== "item") continue;
      tools.learn(reply.value, principal);
      if (reply.value["name"] !== name) continue;
      tools.settle(String(name), principal);
      break;
    }
  } catch {
    // If the service cannot list its tools, the call itself will say so.
  } finally {
    stop();
  }
  if (cancel.fired) throw cancel.reason;
  return tools.of(name, principal) ?? [];
}
