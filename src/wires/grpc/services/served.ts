import type { DescService } from "@bufbuild/protobuf";
import { Health, MCP, McpService, ProtoMcpService, ServerReflection, ServerReflectionAlpha } from "../../../codec/gen/index.js";
import type { StandardOptions } from "./options.js";

/** The MCP services of a listener. */
export function dialectsOf({ tunnelOnly }: Pick<StandardOptions, "tunnelOnly">): readonly DescService[] {
  return tunnelOnly ? [MCP] : [McpService, ProtoMcpService, MCP];
}

/** All services of a listener, as reflection lists them. */
export function servicesOf(served: Pick<StandardOptions, "options" | "tunnelOnly">): readonly DescService[] {
  const reflection = served.options.reflection === false ? [] : [ServerReflection, ServerReflectionAlpha];
  return [...dialectsOf(served), Health, ...reflection];
}
