import { mkdirSync, writeFileSync } from "node:fs";
import { createServer as createHttp, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { createServer as createHttps } from "node:https";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { BinaryWriter } from "@bufbuild/protobuf/wire";
import { onTestFinished } from "vitest";
import {
  catalogueWriter,
  descriptorSet,
  type SchemaStore,
  type SchemaStoreOptions,
  schemaStore,
  serveRegistry,
  type ToolSchemas,
} from "../../src/schema/index.js";
import type { Certificate } from "../fixtures/certificates.js";
import { scratch } from "./support.js";

export const searchTool: ToolSchemas = {
  name: "web_search",
  description: "Finds pages.",
  inputSchema: { type: "object", properties: { query: { type: "string", description: "What to look for." } }, required: ["query"] },
  outputSchema: { type: "object", properties: { pages: { type: "array", items: { type: "string" } } } },
};

/** The descriptors of tools in the package acme.tools.v1. */
export function setOf(...tools: readonly ToolSchemas[]): Uint8Array {
  const writer = catalogueWriter({ package: "acme.tools.v1" });
  for (const tool of tools) writer.add(tool);
  return descriptorSet(writer.finish().tools);
}

/** A folder for the stand-in registry: paths such as `acme/tools/v1.binpb`. */
export function registryFolder(files: Readonly<Record<string, Uint8Array>>): string {
  const folder = scratch();
  for (const [path, bytes] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), bytes);
  }
  return folder;
}

export async function standIn(folder: string): Promise<string> {
  const listener = await serveRegistry(folder, "http://127.0.0.1:0");
  onTestFinished(() => listener.close());
  return listener.address;
}

/** Fields of a message, written without the code under test: texts and messages. */
export function message(fields: readonly (readonly [number: number, value: string | Uint8Array])[]): Uint8Array {
  const writer = new BinaryWriter();
  for (const [number, value] of fields) {
    writer.tag(number, 2);
    if (typeof value === "string") writer.string(value);
    else writer.bytes(value);
  }
  return writer.finish();
}

export interface Asked {
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

export interface RawRegistry {
  readonly url: string;
  readonly asked: Asked[];
  readonly paths: string[];
}

export type Answer = (asked: Asked, response: ServerResponse) => void | Promise<void>;

/** A registry on node:http or node:https that knows nothing of Anywire or Connect: what it says is up to the test. */
export async function rawRegistry(answer: Answer, tls?: Certificate): Promise<RawRegistry> {
  const asked: Asked[] = [];
  const listener: RequestListener = (request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const each = { path: request.url ?? "", headers: request.headers, body: Buffer.concat(chunks) };
      asked.push(each);
      void answer(each, response);
    });
  };
  const server = tls === undefined ? createHttp(listener) : createHttps({ ...tls }, listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http${tls === undefined ? "" : "s"}://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    asked,
    get paths() {
      return asked.map(({ path }) => path);
    },
  };
}

export function proto(response: ServerResponse, bytes: Uint8Array): void {
  response.writeHead(200, { "content-type": "application/proto" });
  response.end(bytes);
}

export function refuse(response: ServerResponse, status: number, code: string, text = "no"): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify({ code, message: text }));
}

export const paths = {
  set: "/buf.registry.module.v1.FileDescriptorSetService/GetFileDescriptorSet",
  commits: "/buf.registry.module.v1.CommitService/GetCommits",
  image: "/buf.alpha.registry.v1alpha1.ImageService/GetImage",
  alphaCommit: "/buf.alpha.registry.v1alpha1.RepositoryCommitService/GetRepositoryCommitByReference",
  reflect: "/buf.reflect.v1beta1.FileDescriptorSetService/GetFileDescriptorSet",
} as const;

/** Answers the newer API with one commit and its descriptors. */
export function oneCommit(commit: string, set: Uint8Array): Answer {
  return ({ path }, response) => {
    if (path === paths.set)
      proto(
        response,
        message([
          [1, set],
          [2, message([[1, commit]])],
        ]),
      );
    else if (path === paths.commits) proto(response, message([[1, message([[1, commit]])]]));
    else refuse(response, 404, "unimplemented");
  };
}

/** A store that asks `url` for buf.build, with no credentials of this machine. */
export function storeAt(url: string, options: SchemaStoreOptions = {}): SchemaStore {
  const store = schemaStore({ registries: { "buf.build": { url } }, env: { HOME: "/nowhere" }, ...options });
  onTestFinished(() => store.close());
  return store;
}

export const commitA = "0123456789ab8cdeafff0123456789ab";
export const commitB = "fedcba9876548321affffedcba987654";
