// A Client of the official SDK on gRPC. Only the transport is new.
import { Client } from "@modelcontextprotocol/client";
import { GrpcClientTransport } from "anywire/sdk";

const client = new Client({ name: "caller", version: "1.0.0" });
await client.connect(new GrpcClientTransport(process.argv[2] ?? "grpc://127.0.0.1:50051"));

const { content } = await client.callTool({ name: "greet", arguments: { name: "Ada" } });
console.log(content[0].text);
await client.close();
