import type { Resource, ResourceTemplate } from "../../api/index.js";
import type { Input } from "../args/input.js";
import { bytesText } from "../out/amount.js";
import { type Entry, writeList } from "../out/list.js";
import { type WithClient, withClient } from "../session/session.js";

export function runResources(input: Input, using: WithClient = withClient): Promise<number> {
  return using(input, (session) => {
    const { client, signal } = session;
    return input.options.has("templates")
      ? writeList(session, client.resourceTemplates({ signal }), templateEntry, "the server has no resource templates")
      : writeList(session, client.resources({ signal }), resourceEntry, "the server has no resources");
  });
}

function resourceEntry({ uri, name, title, description, mimeType, size }: Resource): Entry {
  const size_ = typeof size === "number" ? bytesText(size) : undefined;
  return { name: uri, about: description ?? title ?? name, details: [about(mimeType, size_)] };
}

function templateEntry({ uriTemplate, name, title, description, mimeType }: ResourceTemplate): Entry {
  return { name: uriTemplate, about: description ?? title ?? name, details: [about(mimeType)] };
}

function about(...parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined).join(", ");
}
