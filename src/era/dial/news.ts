import type { Id, IncomingNotification } from "../../codec/index.js";
import { isObject, type JsonObject, meta } from "../../core/index.js";
import { anywireKeys } from "../keys.js";

/** The lists that may change, by the filter member that asks for them. */
export const lists: ReadonlyMap<string, { readonly method: string; readonly feature: string }> = new Map([
  ["toolsListChanged", { method: "notifications/tools/list_changed", feature: "tools" }],
  ["promptsListChanged", { method: "notifications/prompts/list_changed", feature: "prompts" }],
  ["resourcesListChanged", { method: "notifications/resources/list_changed", feature: "resources" }],
]);
export const UPDATED = "notifications/resources/updated";
export const ACKNOWLEDGED = "notifications/subscriptions/acknowledged";

/** Whether a URI or one of its parents is subscribed to: an update may be of a sub-resource. */
export function covers(uris: Pick<ReadonlySet<string>, "has" | "keys">, uri: string): boolean {
  if (uris.has(uri)) return true;
  for (const prefix of uris.keys()) if (uri.startsWith(prefix.endsWith("/") ? prefix : `${prefix}/`)) return true;
  return false;
}

/** The notification that the server has started again, with what it said about itself in `initialize`. It comes first. */
export function renewedAs(initialized: JsonObject): IncomingNotification {
  return { kind: "notification", method: anywireKeys.renewed, params: initialized };
}

/** What may have changed while there was no session: the lists whose changes the server reports, and the subscribed resources. */
export function newsOfSession(capabilities: JsonObject, uris: Iterable<unknown>): IncomingNotification[] {
  const told = [...lists.values()].filter(
    ({ feature }) => isObject(capabilities[feature]) && capabilities[feature]["listChanged"] === true,
  );
  return news(told, uris, {});
}

/** The same for a subscription that was opened again, as its server acknowledges it. */
export function newsOfListen(id: Id, { notifications }: JsonObject): IncomingNotification[] {
  const accepted = isObject(notifications) ? notifications : {};
  const uris = accepted["resourceSubscriptions"];
  const told = [...lists].filter(([name]) => accepted[name] === true).map(([, list]) => list);
  return news(told, Array.isArray(uris) ? uris : [], { _meta: { [meta.subscriptionId]: id } });
}

function news(changed: readonly { readonly method: string }[], uris: Iterable<unknown>, params: JsonObject): IncomingNotification[] {
  return [
    ...changed.map(({ method }) => ({ kind: "notification" as const, method, params })),
    ...[...uris].map((uri) => ({ kind: "notification" as const, method: UPDATED, params: { ...params, uri } })),
  ];
}
