import { urlToHttpOptions } from "node:url";
import { Fault } from "../../core/index.js";
import type { HttpSendOptions } from "../http/request.js";
import type { Sent } from "../http/sent.js";
import { beat, type Silence } from "../http/silence.js";
import { badAddress } from "../unreached.js";
import { ClientRequest } from "./client-request.js";
import type { HostAndPort, HttpConnections } from "./connections.js";

interface OwnTransport {
  readonly connections: HttpConnections;
  readonly silence: Silence;
}

/** Where the requests for a URL go, and what it says about them. */
interface RequestTarget {
  readonly place: HostAndPort;
  readonly path: string;
  /** The headers that the URL decides, unless others are given. */
  readonly host: string;
  readonly authorization: string;
}

/** Parsed URLs: a link sends everything to one. */
const targets = new WeakMap<URL, RequestTarget>();
const framing: ReadonlySet<string> = new Set(["connection", "content-length", "transfer-encoding", "keep-alive", "upgrade"]);
const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const badValue = /[^\t\x20-\x7e\x80-\xff]/;

/** Sends a request over HTTP/1.1 without TLS, on a connection that may be used again. */
export function sendOwn(
  method: string,
  url: URL,
  { headers, body, cancel, awaits = "call", urgent, onSent }: HttpSendOptions,
  { connections, silence }: OwnTransport,
): Promise<Sent> {
  return new Promise((resolve, reject) => {
    const { place, path, host, authorization } = targetOf(url);
    const bodyBytes = body === undefined ? 0 : Buffer.byteLength(body);
    let text = `${method} ${path} HTTP/1.1\r\nconnection: keep-alive\r\n`;
    let [named, authorized] = [false, false];
    for (const name in headers) {
      const value = headers[name] as string;
      if (!headerName.test(name) || badValue.test(value)) throw badHeader(name);
      const lower = name.toLowerCase();
      // These say how the request is read.
      if (framing.has(lower)) continue;
      text += `${name}: ${value}\r\n`;
      if (lower === "host") named = true;
      else if (lower === "authorization") authorized = true;
    }
    if (!named) text += host;
    if (!authorized) text += authorization;
    if (body !== undefined || method === "POST") text += `content-length: ${bodyBytes}\r\n`;
    let unhook: (() => void) | undefined;
    const request = new ClientRequest({
      head: `${text}\r\n`,
      body: body ?? "",
      bodyBytes,
      onSent,
      server: connections.path === undefined ? url.origin : `unix:${connections.path}`,
      resolve,
      reject,
      beat: () => beat(awaited),
      closed() {
        silence.remove(awaited);
        unhook?.();
      },
      forget: () => connections.forget(place, request),
      dropIdle: () => connections.dropKept(),
    });
    const awaited = silence.add(request, awaits);
    if (cancel?.fired === true) return request.leave();
    unhook = cancel?.on(() => request.leave());
    return connections.take(place, request, urgent);
  });
}

function targetOf(url: URL): RequestTarget {
  let target = targets.get(url);
  if (target === undefined) {
    const { hostname, port, path, auth } = parts(url);
    target = {
      place: { host: hostname ?? "", port: Number(port) || 80 },
      path: path ?? "/",
      host: `host: ${url.host}\r\n`,
      authorization: auth ? `authorization: Basic ${Buffer.from(auth).toString("base64")}\r\n` : "",
    };
    targets.set(url, target);
  }
  return target;
}

function parts(url: URL): ReturnType<typeof urlToHttpOptions> {
  try {
    return urlToHttpOptions(url);
  } catch (error) {
    throw badAddress(`the user or the password in the address of ${url.host} has a % that is not written as %25`, error);
  }
}

function badHeader(name: string): Fault {
  return new Fault("invalid-params", `the header ${JSON.stringify(name)} has a character that HTTP does not allow`);
}
