import { type Address, type ConnectOptions, connect, type Era, type JsonObject } from "../../src/api/index.js";
import { clientInfo, type LabClient, type LabClientOptions, roots } from "./clients.js";

/** Anywire's own client, as the lab sees clients. */
export async function openAnywire(
  era: Era,
  address: Address,
  { capable = true, elicit }: LabClientOptions = {},
  more: ConnectOptions = {},
): Promise<LabClient> {
  const asked: JsonObject[] = [];
  const errors: Error[] = [];
  const listeners: ((method: string, params: JsonObject) => void)[] = [];
  const tell = (method: string, params: JsonObject): void => {
    for (const listener of listeners) listener(method, params);
  };
  const client = await connect(address, {
    ...more,
    era,
    info: clientInfo,
    ...(capable
      ? {
          elicit: async (params, { signal }) => {
            asked.push(params);
            return elicit === undefined ? { action: "accept" as const, content: { name: "Ada" } } : elicit(signal);
          },
          sample: (params) => {
            asked.push(params);
            return { role: "assistant" as const, content: { type: "text" as const, text: "4" }, model: "m" };
          },
          roots,
        }
      : {}),
    onLog: (entry) => tell("notifications/message", entry),
    onNotification: ({ method, params }) => tell(method, params),
    onFault: (fault) => errors.push(fault),
  });
  const request: LabClient["request"] = async (method, params = {}, { onProgress, signal } = {}) =>
    client.call(method, params, { onProgress, signal });
  return {
    era,
    asked,
    errors,
    request,
    tool: (name, args = {}, { onProgress, signal } = {}) => client.callTool(name, args, { onProgress, signal }),
    onNotification: (listener) => void listeners.push(listener),
    async subscribe({ uri, tools }) {
      const listen = client.listen({
        ...(uri === undefined ? {} : { resourceSubscriptions: [uri] }),
        ...(tools ? { toolsListChanged: true } : {}),
      });
      await listen.next();
      void (async () => {
        for await (const { method, params } of listen) tell(method, params);
      })().catch(() => {});
    },
    setLevel: async (level) => client.setLogLevel(level),
    rootsChanged: () => client.rootsChanged(),
    closed: client.closed.then(() => {}),
    close: () => client.close(),
  };
}
