import { Fault } from "../fault.js";
import { isObject, type JsonObject, noParams } from "../json.js";
import { meta } from "../methods.js";
import type { Implementation } from "../protocol.js";
import type { Era } from "../service.js";
import type { Connection } from "../wire.js";

/** What a server says about itself. */
export interface ServerView {
  readonly info?: Implementation;
  readonly capabilities: JsonObject;
  readonly instructions?: string;
  /** The protocol version spoken on this connection. */
  readonly version: string;
  readonly era: Era;
  readonly extensions: JsonObject;
  readonly experimental: JsonObject;
  readonly supportedVersions: readonly string[];
  /** Whether the server answered. One that does not know discover may still do everything else. */
  readonly known: boolean;
}

export function serverView(connection: Connection, discovered: JsonObject | undefined): ServerView {
  const { capabilities, instructions, supportedVersions, serverInfo, _meta } = discovered ?? noParams;
  const info = isObject(_meta) && isObject(_meta[meta.serverInfo]) ? _meta[meta.serverInfo] : serverInfo;
  const declared = isObject(capabilities) ? capabilities : {};
  return {
    ...(isObject(info) ? { info: info as Implementation } : undefined),
    capabilities: declared,
    ...(typeof instructions === "string" ? { instructions } : undefined),
    version: connection.protocolVersion,
    era: connection.era,
    extensions: isObject(declared["extensions"]) ? declared["extensions"] : {},
    experimental: isObject(declared["experimental"]) ? declared["experimental"] : {},
    supportedVersions: Array.isArray(supportedVersions) ? supportedVersions : [connection.protocolVersion],
    known: discovered !== undefined,
  };
}

/** Whether capabilities declare `path`, such as `resources.subscribe`. Names may contain dots themselves. */
export function declares(capabilities: unknown, path: string): boolean {
  if (!isObject(capabilities)) return false;
  if (Object.hasOwn(capabilities, path)) {
    const value = capabilities[path];
    return value !== undefined && value !== null && value !== false;
  }
  for (let dot = path.indexOf("."); dot > 0; dot = path.indexOf(".", dot + 1)) {
    const name = path.slice(0, dot);
    if (Object.hasOwn(capabilities, name) && declares(capabilities[name], path.slice(dot + 1))) return true;
  }
  return false;
}

/** Throws unless the server declares one of `paths`, or said nothing about itself. */
export function requireCapability(server: ServerView, what: string, paths: readonly string[]): void {
  if (!server.known || paths.some((path) => declares(server.capabilities, path))) return;
  throw new Fault("missing-capability", `the server cannot ${what}: it does not declare ${paths.join(" or ")}`, {
    data: { requiredCapabilities: paths },
  });
}
