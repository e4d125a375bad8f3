import type { ServerResponse } from "node:http";
import type { JsonReadOptions } from "@bufbuild/protobuf";
import { createContextValues } from "@connectrpc/connect";
import type { UniversalHandler, UniversalServerRequest, UniversalServerResponse } from "@connectrpc/connect/protocol";
import type { Held, Limits } from "../../../core/index.js";
import { endUpload, type NodeRequest, type NodeResponse } from "../../../io/index.js";
import { LONGEST_TIMER_MS } from "../../../stream/index.js";
import { type AcceptedRequest, acceptedKey } from "./call.js";
import { formOf, standIn } from "./form.js";
import { requestMessages } from "./requests.js";
import { withText } from "./text.js";

export interface ServedByConnect {
  readonly handler: UniversalHandler;
  readonly accepted: Omit<AcceptedRequest, "messages">;
  readonly signal: AbortSignal;
  readonly limits: Pick<Limits, "messageBytes" | "messageMs">;
  readonly acceptGzip: boolean;
  /** Options for reading JSON messages. */
  readonly json: Partial<JsonReadOptions>;
  /** Headers of every answer. */
  readonly headers: Readonly<Record<string, string>>;
  /** The explanation for an answer of Connect that is only a status. */
  explain(status: number): string;
}

/** Answers a request with a Connect handler. Resolves when the answer is written or its client has gone. */
export async function exchange(request: NodeRequest, response: NodeResponse, served: ServedByConnect): Promise<void> {
  const { handler, signal, accepted } = served;
  const header = headersOf(request);
  const form = formOf(header.get("content-type") ?? "");
  // Connect refuses the encodings that are not accepted here.
  const gzip = served.acceptGzip && header.get(form.encodingHeader) === "gzip";
  const { messages, close } = requestMessages(request, {
    ...served,
    form,
    method: handler.method,
    encoding: gzip ? "gzip" : "identity",
    account: accepted.account,
    principal: accepted.principal,
  });
  if (gzip) header.delete(form.encodingHeader);
  header.delete("content-length");
  try {
    const answer = await withText(handler)({
      httpVersion: request.httpVersion,
      method: request.method ?? "",
      url: `http://${accepted.authority ?? "localhost"}${request.url}`,
      header,
      body: standIn(form, handler.method),
      signal,
      contextValues: createContextValues().set(acceptedKey, { ...accepted, messages }),
    } satisfies UniversalServerRequest);
    await write(response, answer, served);
  } finally {
    close();
  }
  endUpload(request);
}

async function write(response: NodeResponse, answer: UniversalServerResponse, served: ServedByConnect): Promise<void> {
  const { status } = answer;
  const { accepted, headers, explain } = served;
  const silent = status >= 400 && answer.body === undefined;
  await send(response, {
    status,
    headers: { ...headers, ...plain(answer, response), ...(silent && { "content-type": "text/plain; charset=utf-8" }) },
    body: silent ? said(explain(status)) : answer.body,
    held: accepted.account.outgoing(accepted.principal),
  });
}

function headersOf(request: NodeRequest): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    if (value === undefined || name.startsWith(":")) continue;
    for (const each of typeof value === "string" ? [value] : value) headers.append(name, each);
  }
  // A timeout that is too long for a timer is no limit: the timer would fire at once.
  if (Number(headers.get("connect-timeout-ms") ?? 0) > LONGEST_TIMER_MS) headers.delete("connect-timeout-ms");
  const unit: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1000 };
  const timeout = /^(\d{1,8})([HMS])$/.exec(headers.get("grpc-timeout") ?? "");
  if (timeout !== null && Number(timeout[1]) * (unit[timeout[2] ?? ""] ?? 0) > LONGEST_TIMER_MS) headers.delete("grpc-timeout");
  return headers;
}

function plain({ header }: UniversalServerResponse, response: NodeResponse): Record<string, string> {
  const headers: Record<string, string> = Object.fromEntries(header ?? []);
  // HTTP/2 does not have this header.
  if ("stream" in response) delete headers["connection"];
  return headers;
}

async function* said(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

interface ConnectAnswer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: AsyncIterable<Uint8Array> | undefined;
  /** Counts what waits to be written. */
  readonly held: Held;
}

async function send(response: NodeResponse, { status, headers, body, held }: ConnectAnswer): Promise<void> {
  if (gone(response)) return void (await body?.[Symbol.asyncIterator]().return?.());
  // The two versions declare the same calls in types that cannot be joined.
  const out = response as ServerResponse;
  out.writeHead(status, headers);
  for await (const chunk of body ?? []) {
    if (gone(response)) return;
    if (out.write(chunk)) continue;
    held.set(out.writableLength);
    await drained(response);
    held.free();
  }
  if (!gone(response)) out.end();
}

function gone(response: NodeResponse): boolean {
  return response.destroyed || response.writableEnded || ("stream" in response && response.stream?.destroyed !== false);
}

function drained(response: NodeResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off("drain", done);
      response.off("close", done);
      resolve();
    };
    response.on("drain", done);
    response.on("close", done);
  });
}
