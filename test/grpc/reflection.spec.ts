import { create, createFileRegistry, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import * as grpc from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Listener, serve } from "../../src/api/index.js";
import {
  type ServerReflectionRequest,
  ServerReflectionRequestSchema,
  type ServerReflectionResponse,
  ServerReflectionResponseSchema,
} from "../../src/codec/gen/grpc/reflection/v1/reflection_pb.js";
import { bufCurl, Peer, sample } from "./peers.js";

let listener: Listener;
let peer: Peer;
beforeAll(async () => {
  listener = await serve(sample(), "grpc://127.0.0.1:0");
  peer = new Peer(listener.address);
});
afterAll(async () => {
  peer.close();
  await listener.close();
});

type Question = ServerReflectionRequest["messageRequest"];

async function ask(to: Peer, version: string, ...questions: Question[]): Promise<ServerReflectionResponse[]> {
  const path = `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`;
  const call = to.duplex(path, [ServerReflectionRequestSchema, ServerReflectionResponseSchema]);
  for (const messageRequest of questions) call.write(create(ServerReflectionRequestSchema, { host: "h", messageRequest }));
  call.end();
  const answers: ServerReflectionResponse[] = [];
  for await (const answer of call) answers.push(answer as ServerReflectionResponse);
  return answers;
}

const listed = ({ messageResponse }: ServerReflectionResponse): string[] =>
  messageResponse.case === "listServicesResponse" ? messageResponse.value.service.map(({ name }) => name) : [];
const files = ({ messageResponse }: ServerReflectionResponse): string[] =>
  messageResponse.case === "fileDescriptorResponse"
    ? messageResponse.value.fileDescriptorProto.map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes).name)
    : [];

const all = [
  "mcp.v1.McpService",
  "buf.mcp.v1.MCPService",
  "MCP",
  "grpc.health.v1.Health",
  "grpc.reflection.v1.ServerReflection",
  "grpc.reflection.v1alpha.ServerReflection",
];

describe.each(["v1", "v1alpha"])("reflection %s", (version) => {
  it("lists the services, and says again what it was asked", async () => {
    const [answer] = await ask(peer, version, { case: "listServices", value: "*" });
    expect(listed(answer as ServerReflectionResponse)).toEqual(all);
    expect(answer).toMatchObject({ validHost: "h", originalRequest: { messageRequest: { case: "listServices", value: "*" } } });
  });

  it("gives the file of every kind of symbol, with those that it needs, each once a stream", async () => {
    const symbols = [
      "mcp.v1.McpService",
      "mcp.v1.McpService.Ping",
      "mcp.v1.Tool",
      "mcp.v1.Tool.name",
      "mcp.v1.Role",
      "mcp.v1.ROLE_USER",
      "mcp.v1.CallToolWithProgressResponse.update",
      "grpc.health.v1.HealthCheckResponse.SERVING",
      "MCP.Call",
    ];
    const answers = await ask(peer, version, ...symbols.map((value): Question => ({ case: "fileContainingSymbol", value })));
    const [first, ...more] = answers.map(files);
    expect(first).toEqual([
      "mcp/v1/mcp.proto",
      "google/protobuf/any.proto",
      "google/protobuf/struct.proto",
      "google/protobuf/timestamp.proto",
    ]);
    expect(more).toEqual([...Array.from({ length: 6 }, () => ["mcp/v1/mcp.proto"]), ["grpc/health/v1/health.proto"], ["mcp_tunnel.proto"]]);
  });

  it("gives files that make up a whole", async () => {
    const [answer] = await ask(peer, version, { case: "fileByFilename", value: "mcp/v1/mcp.proto" });
    const found = answer?.messageResponse;
    if (found?.case !== "fileDescriptorResponse") throw new Error("no files");
    const file = found.value.fileDescriptorProto.map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes)).reverse();
    const registry = createFileRegistry(create(FileDescriptorSetSchema, { file }));
    expect(registry.getService("mcp.v1.McpService")?.methods.length).toBe(16);
  });

  it("says what it does not have", async () => {
    const answers = await ask(
      peer,
      version,
      { case: "fileByFilename", value: "none.proto" },
      { case: "fileContainingSymbol", value: "mcp.v1.Tool.none" },
      {
        case: "fileContainingExtension",
        value: { $typeName: "grpc.reflection.v1.ExtensionRequest", containingType: "mcp.v1.Tool", extensionNumber: 9 },
      },
      { case: "allExtensionNumbersOfType", value: "none" },
      { case: undefined },
      { case: "allExtensionNumbersOfType", value: "mcp.v1.Tool" },
    );
    const codes = answers.map(({ messageResponse: { case: name, value } }) => (name === "errorResponse" ? value.errorCode : name));
    expect(codes).toEqual([5, 5, 5, 5, 3, "allExtensionNumbersResponse"]);
  });
});

describe("buf curl, which knows nothing but the address", () => {
  const curl = (...args: string[]): Promise<string> =>
    bufCurl("--protocol", "grpc", "--http2-prior-knowledge", "--reflect", "--reflect-protocol", "grpc-v1", ...args);
  const at = (path: string): string => `${listener.address.replace("grpc:", "http:")}${path}`;

  it("lists services and methods", async () => {
    expect((await curl(at(""), "--list-services")).trim().split("\n").sort()).toEqual([...all].sort());
    const methods = (await curl(at(""), "--list-methods")).trim().split("\n");
    expect(methods.filter((name) => name.startsWith("mcp.v1.McpService/")).length).toBe(16);
  });

  it("pings, lists tools and calls one", async () => {
    expect(JSON.parse(await curl(at("/mcp.v1.McpService/Ping")))).toEqual({});
    const tools = await curl(at("/mcp.v1.McpService/ListTools"));
    expect([...tools.matchAll(/"name": *"(\w+)"/g)].map(([, name]) => name)).toEqual(["echo", "count", "wait"]);
    const request = JSON.stringify({ name: "echo", arguments: { text: "from buf" } });
    expect(JSON.parse(await curl(at("/mcp.v1.McpService/CallTool"), "-d", request))).toMatchObject({
      content: [{ text: { text: "from buf" } }],
    });
    await expect(curl(at("/mcp.v1.McpService/CallTool"), "-d", '{"name":"none"}')).rejects.toThrow(/invalid_argument/);
  });
});

it("can be turned off", async () => {
  await using quiet = await serve(sample(), "grpc://127.0.0.1:0", { reflection: false });
  using other = new Peer(quiet.address);
  for (const version of ["v1", "v1alpha"])
    await expect(ask(other, version, { case: "listServices", value: "" })).rejects.toMatchObject({ code: grpc.status.UNIMPLEMENTED });
});

it("names the tunnel alone where that alone is served", async () => {
  await using tunnel = await serve(sample(), "tunnel+grpc://127.0.0.1:0");
  using other = new Peer(tunnel.address);
  const [answer] = await ask(other, "v1", { case: "listServices", value: "" });
  expect(listed(answer as ServerReflectionResponse)).toEqual(all.slice(2));
});

it("wants credentials like any other call", async () => {
  await using guarded = await serve(sample(), "grpc://127.0.0.1:0", { auth: { verify: () => undefined } });
  using other = new Peer(guarded.address);
  await expect(ask(other, "v1", { case: "listServices", value: "" })).rejects.toMatchObject({ code: grpc.status.UNAUTHENTICATED });
});

it("refuses what is no request of it", async () => {
  const call = peer.makeBidiStreamRequest(
    "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
    (bytes: Buffer) => bytes,
    (bytes) => bytes,
  );
  call.write(Buffer.from([0xff, 0xff, 0xff]));
  const failed = await new Promise((resolve) => call.on("error", resolve).resume());
  expect(failed).toMatchObject({ code: grpc.status.INVALID_ARGUMENT });
});
