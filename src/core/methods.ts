/** The list methods and the result member that holds their items. */
export const listMembers: ReadonlyMap<string, string> = new Map([
  ["tools/list", "tools"],
  ["resources/list", "resources"],
  ["resources/templates/list", "resourceTemplates"],
  ["prompts/list", "prompts"],
]);

/** Methods whose results a client may cache. They carry ttlMs and cacheScope in the modern era. */
export const cacheableMethods: ReadonlySet<string> = new Set([...listMembers.keys(), "server/discover", "resources/read"]);

/** Calls that a modern server may answer with `input_required`. */
export const askingMethods: ReadonlySet<string> = new Set(["tools/call", "prompts/get", "resources/read"]);

/** Requests that the modern era does not have. A modern client that sends one gets `unknown-method`, whatever serves it. */
export const legacyMethods: ReadonlySet<string> = new Set([
  "initialize",
  "ping",
  "logging/setLevel",
  "resources/subscribe",
  "resources/unsubscribe",
]);

/** Methods that are always requests. A message without an id that names one is not passed on as a notification. */
export const requestMethods: ReadonlySet<string> = new Set([
  ...legacyMethods,
  ...cacheableMethods,
  ...askingMethods,
  "completion/complete",
  "subscriptions/listen",
  "tasks/cancel",
  "tasks/get",
  "tasks/list",
  "tasks/result",
  "tasks/update",
]);

export const meta = {
  protocolVersion: "io.modelcontextprotocol/protocolVersion",
  clientInfo: "io.modelcontextprotocol/clientInfo",
  clientCapabilities: "io.modelcontextprotocol/clientCapabilities",
  logLevel: "io.modelcontextprotocol/logLevel",
  serverInfo: "io.modelcontextprotocol/serverInfo",
  subscriptionId: "io.modelcontextprotocol/subscriptionId",
} as const;

/** Most verbose first. */
export const logLevels = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"] as const;
export type LogLevel = (typeof logLevels)[number];

export function isLogLevel(value: unknown): value is LogLevel {
  return levelAt(value) >= 0;
}

/** The place of a level among all; -1 for one that is unknown. */
export function levelAt(level: unknown): number {
  const levels: readonly unknown[] = logLevels;
  return levels.indexOf(level);
}

/** Whether an entry of `level` passes where `threshold` was asked for; unknown levels pass. */
export function passesLevel(level: unknown, threshold: string): boolean {
  const at = levelAt(level);
  return at < 0 || at >= levelAt(threshold);
}

/** The capability that a client must have declared before it may be asked `method`. */
export function neededCapability(method: string, params: { readonly [member: string]: unknown }): Record<string, object> | undefined {
  switch (method) {
    case "elicitation/create":
      return { elicitation: params["mode"] === "url" ? { url: {} } : {} };
    case "sampling/createMessage":
      return { sampling: params["tools"] === undefined ? {} : { tools: {} } };
    case "roots/list":
      return { roots: {} };
    default:
      return undefined;
  }
}
