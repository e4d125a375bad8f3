import { Agent, type ClientRequest, type IncomingMessage, request } from "node:http";

export interface Message {
  readonly id?: string | number | null;
  readonly method?: string;
  readonly params?: { readonly progressToken?: unknown; readonly progress?: number; readonly data?: unknown };
  readonly result?: { readonly content?: readonly { readonly text: string }[]; readonly [member: string]: unknown };
  readonly error?: { readonly code: number };
}

/** What came for a POST: its status, and the messages in their order. */
export interface Answer {
  readonly status: number;
  readonly messages: readonly Message[];
}

export interface Posted {
  readonly answer: Promise<Answer>;
  readonly request: ClientRequest;
}

export interface PostOptions {
  readonly id?: string | number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sees each message with the id of its event, as it comes. */
  readonly onMessage?: (message: Message, event: string | undefined) => void;
}

/** A legacy client over `node:http` alone: what it costs is little, and it sees messages as they are. */
export class RawClient {
  readonly #url: URL;
  readonly #agent: Agent;
  readonly #headers: Record<string, string> = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  };
  #id = 0;

  constructor(url: string, sockets = 64) {
    this.#url = new URL(url);
    this.#agent = new Agent({ keepAlive: true, maxSockets: sockets, maxFreeSockets: sockets });
  }

  /** Begins a session. */
  static async open(url: string, sockets?: number): Promise<RawClient> {
    const client = new RawClient(url, sockets);
    const { status, session } = await client.initialize();
    if (status !== 200) throw new Error(`initialize: ${status}`);
    if (session !== undefined) client.#headers["mcp-session-id"] = session;
    client.#headers["mcp-protocol-version"] = "2025-06-18";
    await client.notify("notifications/initialized", {});
    return client;
  }

  async initialize(headers: Readonly<Record<string, string>> = {}): Promise<{ status: number; session: string | undefined }> {
    let session: string | undefined;
    const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "raw", version: "1" } };
    const { request, answer } = this.post("initialize", params, { headers });
    request.once("response", (response: IncomingMessage) => {
      session = response.headers["mcp-session-id"] as string | undefined;
    });
    const { status } = await answer;
    return { status, session };
  }

  async call(name: string, args: object = {}, options: PostOptions & { readonly token?: string } = {}): Promise<Answer> {
    const _meta = options.token === undefined ? undefined : { progressToken: options.token };
    return this.post("tools/call", { name, arguments: args, ...(_meta && { _meta }) }, options).answer;
  }

  async text(name: string, args: object = {}): Promise<string> {
    const { status, messages } = await this.call(name, args);
    const found = messages.at(-1)?.result?.content?.[0]?.text;
    if (found === undefined) throw new Error(`${name}: ${status} ${JSON.stringify(messages.at(-1))}`);
    return found;
  }

  async notify(method: string, params: object): Promise<void> {
    const body = JSON.stringify({ jsonrpc: "2.0", method, params });
    await this.#send("POST", body, {}).answer;
  }

  post(method: string, params: object, { id = ++this.#id, headers = {}, onMessage }: PostOptions = {}): Posted {
    return this.#send("POST", JSON.stringify({ jsonrpc: "2.0", id, method, params }), headers, onMessage);
  }

  /** The stream of what belongs to no call, or the rest of one that was lost. */
  listen(onMessage: NonNullable<PostOptions["onMessage"]>, last?: string): Posted {
    return this.#send("GET", undefined, last === undefined ? {} : { "last-event-id": last }, onMessage);
  }

  close(): void {
    this.#agent.destroy();
  }

  #send(method: string, body: string | undefined, headers: Readonly<Record<string, string>>, onMessage?: PostOptions["onMessage"]): Posted {
    const length = body === undefined ? undefined : { "content-length": Buffer.byteLength(body) };
    const sent = request(this.#url, { method, agent: this.#agent, headers: { ...this.#headers, ...length, ...headers } });
    const answer = new Promise<Answer>((resolve, reject) => {
      sent.once("error", reject);
      sent.once("response", (response) => {
        const messages: Message[] = [];
        const take = (text: string, event?: string): void => {
          const message = JSON.parse(text) as Message;
          messages.push(message);
          onMessage?.(message, event);
        };
        const stream = response.headers["content-type"]?.startsWith("text/event-stream") === true;
        let rest = "";
        response.setEncoding("utf8").on("data", (chunk: string) => {
          rest += chunk;
          if (!stream) return;
          const blocks = rest.split("\n\n");
          rest = blocks.pop() ?? "";
          for (const block of blocks) {
            const member = (name: string): string | undefined => new RegExp(`^${name}: ?(.*)$`, "m").exec(block)?.[1];
            const data = member("data");
            if (data?.startsWith("{")) take(data, member("id"));
          }
        });
        response.once("error", reject);
        response.once("end", () => {
          if (!stream && rest.startsWith("{")) take(rest);
          resolve({ status: response.statusCode ?? 0, messages });
        });
      });
    });
    answer.catch(() => {});
    sent.end(body);
    return { answer, request: sent };
  }
}
