import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders } from "node:http";
import { request as httpsRequest } from "node:https";
import type { Socket } from "node:net";
import { answerHeaderBytes, extended, type Fault } from "../../core/index.js";
import type { HttpSendOptions } from "./request.js";
import type { SecureAgent } from "./secure-agent.js";
import { requestFault, type Sent, sent } from "./sent.js";
import { beat, type OpenRequest, type Silence } from "./silence.js";

interface NodeTransport {
  readonly agent: SecureAgent;
  readonly silence: Silence;
}

/** Sends over HTTP/1.1 and TLS, to a server that does not offer HTTP/2. */
export function sendSecure(
  method: string,
  url: URL,
  { headers, body, cancel, awaits = "call", urgent = false, onSent }: HttpSendOptions,
  { agent, silence }: NodeTransport,
): Promise<Sent> {
  return new Promise((resolve, reject) => {
    const lengthened = body === undefined ? headers : extended(headers, { "content-length": Buffer.byteLength(body) });
    const given = {
      method,
      headers: lengthened as OutgoingHttpHeaders,
      agent: agent.agentFor(urgent),
      maxHeaderSize: answerHeaderBytes.http1,
    };
    const request = httpsRequest(url, given);
    const open = new NodeRequest(request, agent);
    const awaited = silence.add(open, awaits);
    request.once("response", (response: IncomingMessage) => {
      open.response = response;
      resolve(sent(response.statusCode ?? 0, response.headers, response, undefined, () => beat(awaited)));
    });
    request.on("error", (error: NodeJS.ErrnoException) => reject(requestFault(error, url.origin)));
    const unhook = cancel?.on(() => void request.destroy());
    request.once("close", () => {
      silence.remove(awaited);
      unhook?.();
    });
    request.end(body, onSent);
  });
}

class NodeRequest implements OpenRequest {
  response: IncomingMessage | undefined;
  readonly #request: ClientRequest;
  readonly #agent: SecureAgent;

  constructor(request: ClientRequest, agent: SecureAgent) {
    this.#request = request;
    this.#agent = agent;
  }

  get socket(): Socket | null {
    return this.#request.socket;
  }

  get answered(): boolean {
    return this.response !== undefined;
  }

  get unread(): number {
    return this.response?.readableLength ?? 0;
  }

  destroy(fault: Fault): void {
    (this.response ?? this.#request).destroy(fault);
  }

  dropIdle(): void {
    for (const sockets of Object.values(this.#agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
  }
}
