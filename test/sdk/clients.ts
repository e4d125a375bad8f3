import { Client as ClientV2, type RequestMethod } from "@modelcontextprotocol/client";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { CreateMessageRequestSchema, ElicitRequestSchema, ListRootsRequestSchema, ResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import type { Era, JsonObject, LogLevel } from "../../src/api/index.js";
import type { SdkTransport } from "../../src/sdk/index.js";

export interface LabCall {
  readonly onProgress?: (progress: JsonObject) => void;
  readonly signal?: AbortSignal;
}

/** A client, whoever made it. */
export interface LabClient {
  readonly era: Era;
  request(method: string, params?: JsonObject, call?: LabCall): Promise<JsonObject>;
  tool(name: string, args?: JsonObject, call?: LabCall): Promise<JsonObject>;
  /** Hears of every notification. */
  onNotification(listener: (method: string, params: JsonObject) => void): void;
  /** Resolves when the changes of this resource, or of the list of tools, are told from now on. */
  subscribe(what: { readonly uri?: string; readonly tools?: true }): Promise<void>;
  setLevel(level: LogLevel): Promise<void>;
  rootsChanged(): Promise<void>;
  /** What the client was asked. */
  readonly asked: readonly JsonObject[];
  readonly errors: readonly Error[];
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

export type OpenClient<T = SdkTransport> = (transport: T, options?: LabClientOptions) => Promise<LabClient>;

export interface LabClientOptions {
  /** Whether it can be asked; true unless said otherwise. */
  readonly capable?: boolean;
  /** Answers to a form; accepts unless said otherwise. */
  readonly elicit?: (signal: AbortSignal) => Promise<{ action: "accept" | "decline" | "cancel"; content?: { name: string } }>;
}

export const clientInfo = { name: "lab-client", version: "3.2.1" };
const capabilities = { elicitation: { form: {} }, sampling: {}, roots: { listChanged: true } };
const sampled = { role: "assistant" as const, content: { type: "text" as const, text: "4" }, model: "m" };
export const roots = [{ uri: "file:///r", name: "r" }];
const accept = async () => ({ action: "accept" as const, content: { name: "Ada" } });
const LEVEL = "io.modelcontextprotocol/logLevel";

export const openV1: OpenClient<Parameters<ClientV1["connect"]>[0]> = async (transport, { capable = true, elicit = accept } = {}) => {
  const client = new ClientV1(clientInfo, { capabilities: capable ? capabilities : {} });
  const state = watch(client);
  if (capable) {
    client.setRequestHandler(ElicitRequestSchema, ({ params }, { signal }) => {
      state.asked.push(params);
      return elicit(signal);
    });
    client.setRequestHandler(CreateMessageRequestSchema, ({ params }) => {
      state.asked.push(params);
      return sampled;
    });
    client.setRequestHandler(ListRootsRequestSchema, () => ({ roots }));
  }
  await client.connect(transport);
  const request: LabClient["request"] = (method, params = {}, call = {}) => client.request({ method, params }, ResultSchema, sdkCall(call));
  return {
    ...state.view,
    era: "legacy",
    request,
    tool: (name, args = {}, call) => request("tools/call", { name, arguments: args }, call),
    async subscribe({ uri }) {
      if (uri !== undefined) await client.subscribeResource({ uri });
    },
    setLevel: async (level) => void (await client.setLoggingLevel(level)),
    rootsChanged: () => client.sendRootsListChanged(),
    close: () => client.close(),
  };
};

type Negotiation = "legacy" | "auto" | { readonly pin: "2026-07-28" };

export const openV2 =
  (mode: Negotiation): OpenClient<Parameters<ClientV2["connect"]>[0]> =>
  async (transport, { capable = true, elicit = accept } = {}) => {
    const client = new ClientV2(clientInfo, { capabilities: capable ? capabilities : {}, versionNegotiation: { mode } });
    const state = watch(client);
    if (capable) {
      client.setRequestHandler("elicitation/create", ({ params }, { mcpReq }) => {
        state.asked.push(params as JsonObject);
        return elicit(mcpReq.signal);
      });
      client.setRequestHandler("sampling/createMessage", ({ params }) => {
        state.asked.push(params as JsonObject);
        return sampled;
      });
      client.setRequestHandler("roots/list", () => ({ roots }));
    }
    await client.connect(transport);
    const era: Era = client.getNegotiatedProtocolVersion() === "2026-07-28" ? "modern" : "legacy";
    let level: LogLevel | undefined;
    const loose = z.looseObject({});
    const request: LabClient["request"] = (method, params = {}, call = {}) => {
      const leveled = level === undefined ? params : { ...params, _meta: { [LEVEL]: level } };
      return client.request({ method: method as RequestMethod, params: leveled as never }, loose, sdkCall(call));
    };
    return {
      ...state.view,
      era,
      request,
      tool: (name, args = {}, call) => {
        const params = { name, arguments: args, ...(level === undefined ? undefined : { _meta: { [LEVEL]: level } }) };
        return client.callTool(params as never, sdkCall(call)) as Promise<JsonObject>;
      },
      async subscribe({ uri, tools }) {
        if (era === "modern")
          await client.listen({
            ...(uri === undefined ? {} : { resourceSubscriptions: [uri] }),
            ...(tools ? { toolsListChanged: true } : {}),
          });
        else if (uri !== undefined) await client.subscribeResource({ uri });
      },
      async setLevel(wanted) {
        if (era === "modern") level = wanted;
        else await client.setLoggingLevel(wanted);
      },
      rootsChanged: () => (era === "modern" ? Promise.resolve() : client.sendRootsListChanged()),
      close: () => client.close(),
    };
  };

interface Watched {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
}

/** Keeps what a client of either version hears. */
function watch(client: ClientV1 | ClientV2) {
  const asked: JsonObject[] = [];
  const errors: Error[] = [];
  const listeners: ((method: string, params: JsonObject) => void)[] = [];
  const watched: Watched = client;
  const closed = new Promise<void>((resolve) => {
    watched.onclose = resolve;
  });
  watched.onerror = (error) => errors.push(error);
  client.fallbackNotificationHandler = async (notification: { method: string; params?: object | undefined }) => {
    for (const listener of listeners) listener(notification.method, (notification.params ?? {}) as JsonObject);
  };
  return {
    asked,
    view: {
      asked,
      errors,
      closed,
      onNotification: (listener: (method: string, params: JsonObject) => void) => void listeners.push(listener),
    },
  };
}

function sdkCall({ onProgress, signal }: LabCall = {}): { onprogress?: (progress: object) => void; signal?: AbortSignal } {
  return {
    ...(onProgress === undefined ? {} : { onprogress: (progress: object) => onProgress(progress as JsonObject) }),
    ...(signal === undefined ? {} : { signal }),
  };
}
