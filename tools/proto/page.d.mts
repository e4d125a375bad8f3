import type * as bufBase from "../../src/codec/bufmcpv1/base.js";
import type * as bufPayloads from "../../src/codec/bufmcpv1/payloads.js";
import type * as base from "../../src/codec/mcpv1/base.js";
import type { mcpv1Messages } from "../../src/codec/mcpv1/dialect.js";
import type * as session from "../../src/codec/mcpv1/session-tables.js";

export interface Payloads {
  readonly requests: typeof session.requestPayloads;
  readonly notifications: typeof session.notificationPayloads;
  readonly results: typeof session.resultPayloads;
  readonly items: typeof session.itemPayloads;
  readonly calls: typeof session.callPayloads;
}
export const source: string;
export const target: string;
export function payloadsOf(tables: typeof session): Payloads;
export function page(
  text: string,
  tables: {
    readonly messages: typeof mcpv1Messages;
    readonly payloads: Payloads;
    readonly base: Pick<typeof base, "dispensableMeta" | "vitalMembers">;
  },
): string;
export const bufSource: string;
export const bufTarget: string;
export function bufPage(
  text: string,
  tables: Pick<typeof bufPayloads, "requests" | "results" | "notifications"> &
    Pick<typeof bufBase, "bufDispensableMeta" | "bufVitalMembers"> & { readonly messages: typeof mcpv1Messages },
): string;
