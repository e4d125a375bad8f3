import { afterEach, vi } from "vitest";
import { type Channel, type GrpcChannelOptions, grpcChannel } from "../../../src/io/index.js";
import { type RawPeer, type RawServer, type RawServerOptions, rawServer } from "./raw-server.js";

/** A server by hand and a channel to it, for one test after the other. */
export interface Stage {
  readonly server: RawServer;
  start(serve: (peer: RawPeer) => void | Promise<void>, options?: RawServerOptions & GrpcChannelOptions): Promise<Channel>;
  /** The server's side of the first connection. */
  first(): Promise<RawPeer>;
}

/** Closes what a test has started when the test is over. */
export function stage(): Stage {
  let server: RawServer | undefined;
  let channel: Channel | undefined;
  afterEach(async () => {
    await channel?.close();
    await server?.close();
  });
  return {
    get server() {
      if (server === undefined) throw new Error("nothing was started");
      return server;
    },
    async start(serve, options = {}) {
      server = await rawServer(serve, options);
      channel = grpcChannel([{ host: "127.0.0.1", port: server.port }], options);
      return channel;
    },
    first: () => vi.waitFor(() => server?.peers[0] ?? Promise.reject(new Error("nobody is there"))),
  };
}
