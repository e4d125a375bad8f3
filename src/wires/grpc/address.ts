import type { ConnectionOptions } from "node:tls";
import { type Address, DEFAULT_PORT } from "../../core/index.js";
import { badAddress, type GrpcTarget, unixPath } from "../../io/index.js";

/** The target of a gRPC address. */
export interface GrpcPlace {
  readonly scheme: "grpc" | "grpcs" | "grpc+unix";
  readonly hosts: readonly { readonly host: string; readonly port: number }[];
  readonly path?: string;
}

/** Reads `grpc://host:port`, several of them separated by commas, `grpcs://`, or `grpc+unix:PATH`. */
export function grpcPlaceOf(address: Address): GrpcPlace {
  const text = String(address);
  const path = /^((tunnel|proto)\+)?grpc\+unix:/.test(text) ? unixPath(text) : undefined;
  if (path !== undefined) return { scheme: "grpc+unix", hosts: [], path };
  const found = /^(?:(?:tunnel|proto)\+)?(grpcs?):\/\/([^/?#]+)\/?$/.exec(text);
  if (found === null) throw badAddress(`not a gRPC address: ${text}; it looks like grpc://host:port, grpcs://host:port or grpc+unix:PATH`);
  const hosts = (found[2] as string).split(",").map((each) => hostOf(each, text));
  return { scheme: found[1] as "grpc" | "grpcs", hosts };
}

function hostOf(each: string, text: string): { host: string; port: number } {
  const parts = /^(\[[0-9a-fA-F:.]+\]|[^:[\]@]+)(?::(\d{1,5}))?$/.exec(each);
  const port = Number(parts?.[2] ?? DEFAULT_PORT);
  if (parts?.[1] === undefined || port > 65_535)
    throw badAddress(`not a gRPC address: ${text}: ${JSON.stringify(each.replace(/^.*@/, "[redacted]@"))} is no host and port`);
  return { host: parts[1].replace(/^\[|\]$/g, ""), port };
}

export function targetsOf(place: GrpcPlace, tls: ConnectionOptions | undefined): readonly GrpcTarget[] {
  if (place.path !== undefined) return [{ path: place.path, authority: "localhost" }];
  return place.hosts.map(({ host, port }) => ({ host, port, ...(place.scheme === "grpcs" ? { tls: tls ?? {} } : undefined) }));
}
