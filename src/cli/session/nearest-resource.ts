import { uriTemplate } from "../../core/index.js";
import { Nearest } from "../args/nearest.js";
import type { CommandSession } from "./session.js";

/** How many resources are searched for a similar name. */
const MOST = 10_000;

/** The resource that a wrong URI may have meant; undefined if the server has that very URI, or nothing similar. */
export async function nearestResource({ client, signal }: CommandSession, uri: string): Promise<string | undefined> {
  const near = new Nearest(uri);
  try {
    let seen = 0;
    for await (const resource of client.resources({ signal })) {
      if (resource.uri === uri) return undefined;
      near.offer(resource.uri);
      if (++seen >= MOST) break;
    }
    for await (const template of client.resourceTemplates({ signal })) {
      if (uriTemplate(template.uriTemplate).match(uri) !== undefined) return undefined;
      near.offer(template.uriTemplate);
    }
  } catch {
    // The server's answer to the read itself matters more.
  }
  return near.found;
}
