import { connect, type Era } from "anywire";
import { listening } from "../child.js";
import { anywireEnd, type Pair, type Wire } from "../pairs.js";

/** Anywire's client and server over gRPC: calls on one Session, or each as an RPC. */
export async function openGrpcPair(era: Era, wire: Wire): Promise<Pair> {
  const server = await listening("anywire", "plain", "grpc://127.0.0.1:0");
  const rpc = wire === "grpc-rpc";
  const end = anywireEnd(await connect(server.address, { era, calls: rpc ? "rpc" : "session" }));
  return {
    ...end,
    name: `${end.name} over gRPC, ${rpc ? "unary" : "Session"}`,
    async close() {
      await end.close();
      await server[Symbol.asyncDispose]();
    },
  };
}
