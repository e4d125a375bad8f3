import { uriTemplate } from "../../core/index.js";
import { Nearest } from "../args/nearest.js";
import type { CommandSession } from "./session.js";

/** How many resources are looked at for a name that was meant. */
const MOST = 10_000;

/** The resource that a wrong URI may have meant; undefined where the server has that one, or nothing like it. */
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
    // What the server said of the read itself is what matters.
  }
  return near.found;
}
