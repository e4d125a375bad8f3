import type { Field, Kind, Message } from "./field.js";
import { content } from "./tables/content.js";
import { lifecycle } from "./tables/lifecycle.js";
import { prompts } from "./tables/prompts.js";
import { resources } from "./tables/resources.js";
import { streams } from "./tables/streams.js";
import { tools } from "./tables/tools.js";

/** Every message that stands for a JSON object. */
export const messages: readonly Message[] = [...lifecycle, ...tools, ...content, ...resources, ...prompts, ...streams];

/** What a slot of a table is besides the kinds: the other places where a field's value may be. */
export type Role = Kind | "json" | "roles" | "flag" | "extra" | "variant" | "union" | "group";

/** The wire type of each kind. */
const wires: Record<Role, 0 | 1 | 2> = {
  string: 2,
  bool: 0,
  int32: 0,
  int64: 0,
  double: 1,
  role: 0,
  audience: 0,
  change: 0,
  octets: 2,
  time: 2,
  id: 2,
  token: 2,
  constant: 2,
  struct: 2,
  value: 2,
  any: 2,
  anys: 2,
  metadata: 2,
  strings: 2,
  map: 2,
  message: 2,
  messages: 2,
  json: 2,
  roles: 2,
  flag: 0,
  extra: 2,
  variant: 2,
  union: 2,
  group: 2,
};

/** A field ready for use. Where a field has a second place (its twin, several roles), that is a slot with the same bit. */
export interface Slot {
  readonly field: Field;
  readonly member: string;
  readonly role: Role;
  readonly number: number;
  readonly wire: number;
  readonly tag: number;
  /** The tag of the twin, 0 if there is none. */
  readonly twin: number;
  /** The bits of its oneof, its own included. */
  mask: number;
  readonly bit: number;
  readonly lift: boolean;
  readonly repeated: boolean;
  /** The table of the message `of`. */
  table: Table | undefined;
  readonly parts: readonly Slot[];
  readonly alternatives: ReadonlyMap<string, Slot> | undefined;
}

export interface Table {
  readonly name: string;
  readonly byMember: ReadonlyMap<string, Slot>;
  readonly byNumber: readonly (Slot | undefined)[];
  /** Slots with a default. */
  readonly initial: readonly Slot[];
  /** Objects of parts that are there even if they have none. */
  readonly open: readonly Slot[];
  /** The bits of the members that have a default. */
  readonly required: number;
  /** Members of `_meta` that have a field. */
  readonly lifts: ReadonlyMap<string, Slot> | undefined;
  readonly variants: ReadonlyMap<string, Slot> | undefined;
  readonly rest: Slot | undefined;
  readonly flag: Slot | undefined;
}

export function tableOf(name: string): Table {
  const table = tables.get(name);
  if (table === undefined) throw new TypeError(`no message ${name}`);
  return table;
}

function build(): Map<string, Table> {
  const built = new Map(messages.map((message) => [message.name, compile(message)]));
  for (const table of built.values()) {
    for (const slot of table.byNumber) if (slot?.field.of !== undefined) slot.table = built.get(slot.field.of);
  }
  return built;
}

const repeated: ReadonlySet<Role> = new Set(["strings", "map", "messages", "roles", "extra"]);
const tables: ReadonlyMap<string, Table> = build();

function slotOf(field: Field, role: Role, number: number, bit: number, more: Partial<Pick<Slot, "parts" | "alternatives">> = {}): Slot {
  return {
    field,
    member: field.member,
    role,
    number,
    wire: wires[role],
    tag: number * 8 + wires[role],
    twin: field.twin === undefined ? 0 : field.twin * 8 + 2,
    mask: bit,
    bit,
    lift: field.lift === true,
    repeated: repeated.has(role),
    table: undefined,
    parts: more.parts ?? [],
    alternatives: more.alternatives,
  };
}

function compile(message: Message): Table {
  const byMember = new Map<string, Slot>();
  const byNumber: (Slot | undefined)[] = new Array(128).fill(undefined);
  const lifts = new Map<string, Slot>();
  const variants = new Map<string, Slot>();
  const initial: Slot[] = [];
  let required = 0;
  let next = 0;
  let flag: Slot | undefined;
  /** Fields of one member share its bit, apart from the parts of an object, which come together. */
  const bits = new Map<string, number>();
  for (const field of message.fields) {
    const key = field.part === undefined ? `${field.lift === true ? "_meta " : ""}${field.member}` : `${field.member} ${field.part}`;
    const bit = bits.get(key) ?? 1 << next++;
    bits.set(key, bit);
    const slot = slotOf(field, field.kind, field.number, bit);
    byNumber[field.number] = slot;
    if (field.twin !== undefined) byNumber[field.twin] = slotOf(field, "json", field.twin, bit);
    if (field.several !== undefined) {
      const several = slotOf(field, "roles", field.several, 1 << next++);
      byNumber[field.several] = several;
      slot.mask = several.mask = slot.bit | several.bit;
    }
    if (field.flag !== undefined) byNumber[field.flag] = flag = slotOf(field, "flag", field.flag, 1 << next++);
    if (field.initial !== undefined) {
      initial.push(slot);
      required |= bit;
    }
    if (field.open) required |= bit;
    const places = field.lift === true ? lifts : byMember;
    places.set(field.member, joined(places.get(field.member), slot));
  }
  for (const variant of message.variants ?? []) {
    const slot = slotOf(variant, "variant", variant.number, 1 << next++);
    byNumber[variant.number] = slot;
    variants.set(variant.when, slot);
  }
  const oneofs = new Map<string, number>();
  for (const slot of byNumber) if (slot?.field.oneof !== undefined) add(oneofs, slot.field.oneof, slot.bit);
  for (const slot of byNumber) if (slot?.field.oneof !== undefined) slot.mask = oneofs.get(slot.field.oneof) ?? slot.bit;
  let rest: Slot | undefined;
  if (message.rest !== undefined) {
    const field: Field = { member: "", name: "extra", number: message.rest, kind: "map" };
    byNumber[message.rest] = rest = slotOf(field, "extra", message.rest, 0);
  }
  return {
    name: message.name,
    byMember,
    byNumber,
    initial,
    open: [...byMember.values(), ...lifts.values()].filter((slot) => slot.field.open === true),
    required,
    lifts: lifts.size === 0 ? undefined : lifts,
    variants: variants.size === 0 ? undefined : variants,
    rest,
    flag,
  };
}

function add(sums: Map<string, number>, key: string, bit: number): void {
  sums.set(key, (sums.get(key) ?? 0) | bit);
}

/** The slot of a member that several fields stand for: by its `type`, or with a field for each of its own members. */
function joined(before: Slot | undefined, slot: Slot): Slot {
  const { when, part } = slot.field;
  if (when !== undefined) {
    const alternatives = new Map([...(before?.alternatives ?? []), [when, slot] as const]);
    return slotOf(slot.field, "union", 0, (before?.bit ?? 0) | slot.bit, { alternatives });
  }
  if (part !== undefined) return slotOf(slot.field, "group", 0, (before?.bit ?? 0) | slot.bit, { parts: [...(before?.parts ?? []), slot] });
  return slot;
}
