import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { body, events } from "./events.js";
import { portOf } from "./sockets.js";
import type { RawWire } from "./types.js";

/** HTTP+SSE by `node:http`: one stream of events back, a POST for each message there. */
export const sse: RawWire = {
  async client(address, _era, take) {
    const agent = new Agent({ keepAlive: true });
    const url = address.replace(/^sse\+/, "");
    let last = Promise.resolve();
    let stream: IncomingMessage | undefined;
    const endpoint = await new Promise<string>((resolve) => {
      request(url, { agent, headers: { accept: "text/event-stream" } }, (answer) => {
        stream = answer;
        events(answer, (data, event) => (event === "endpoint" ? resolve(new URL(data, url).href) : take(data)));
      })
        .on("error", () => {})
        .end();
    });
    return {
      send(text) {
        last = last.then(
          () =>
            new Promise<void>((resolve) => {
              request(endpoint, { agent, method: "POST", headers: { "content-type": "application/json" } }, (answer) => {
                answer.resume();
                resolve();
              })
                .on("error", () => resolve())
                .end(text);
            }),
        );
      },
      read: (on) => void (on ? stream?.resume() : stream?.pause()),
      async close() {
        agent.destroy();
      },
    };
  },
  async server(_era, take, wanted) {
    let stream: ServerResponse | undefined;
    const http = createServer((incoming, response) => {
      if (incoming.method === "GET") {
        stream = response;
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write("event: endpoint\ndata: /message?sessionId=raw\n\n");
      } else {
        body(incoming, take);
        response.writeHead(202).end();
      }
    });
    const port = await portOf(http, wanted);
    return {
      address: `sse+http://127.0.0.1:${port}/sse`,
      send: (text) => void stream?.write(`event: message\ndata: ${text}\n\n`),
      async close() {
        http.closeAllConnections();
        http.close();
      },
    };
  },
};
