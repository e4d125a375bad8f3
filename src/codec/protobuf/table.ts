import type { Field, Kind, MessageSpec } from "./field.js";

/** The kind of a slot, including the other places where a field's value may be. */
export type Role = Kind | "json" | "enumList" | "flag" | "extra" | "variant" | "union" | "group";

/** The wire type of each kind. */
const wires: Record<Role, 0 | 1 | 2> = {
  string: 2,
  bool: 0,
  int32: 0,
  int64: 0,
  uint64: 0,
  double: 1,
  enum: 0,
  enums: 0,
  octets: 2,
  bytes: 2,
  time: 2,
  id: 2,
  token: 2,
  constant: 2,
  struct: 2,
  value: 2,
  any: 2,
  packed: 2,
  typed: 2,
  anys: 2,
  metadata: 2,
  strings: 2,
  map: 2,
  message: 2,
  messages: 2,
  json: 2,
  enumList: 2,
  flag: 0,
  extra: 2,
  variant: 2,
  union: 2,
  group: 2,
};

/** A compiled field. If a field has a second place (its twin, several values), that is a slot with the same bit. */
export interface Slot {
  readonly field: Field;
  readonly member: string;
  readonly role: Role;
  readonly number: number;
  readonly wire: number;
  readonly tag: number;
  /** The tag of the twin; 0 if there is none. */
  readonly twin: number;
  /** The bits of which none may be set before it comes, including its own. */
  mask: number;
  readonly bit: number;
  readonly lift: boolean;
  readonly repeated: boolean;
  /** The table of the message `of`; an empty one if there is no such message. */
  table: Table;
  /** The names of the enum `of`, by number. */
  names: readonly string[];
  /** A map's value, if it is not a string. */
  readonly value: Slot | undefined;
  readonly parts: readonly Slot[];
  /** By the value of the member `type`. */
  readonly alternatives: ReadonlyMap<unknown, Slot> | undefined;
}

export interface Table {
  readonly name: string;
  readonly byMember: ReadonlyMap<string, Slot>;
  readonly byNumber: readonly (Slot | undefined)[];
  /** The number of the field for members that have none, or whose value does not fit; 0 if the dialect has none. */
  readonly others: number;
  /** Slots with a default. */
  readonly initial: readonly Slot[];
  /** Objects of parts that exist even if they have no members. */
  readonly open: readonly Slot[];
  /** The bits of the members that have a default. */
  readonly required: number;
  /** Members of `_meta` that have a field. */
  readonly lifts: ReadonlyMap<string, Slot> | undefined;
  /** By the value of the member `type`. */
  readonly variants: ReadonlyMap<unknown, Slot> | undefined;
  readonly rest: Slot | undefined;
}

const noTable: Table = {
  name: "",
  byMember: new Map(),
  byNumber: [],
  others: 0,
  initial: [],
  open: [],
  required: 0,
  lifts: undefined,
  variants: undefined,
  rest: undefined,
};

/** The largest field number, because field numbers index an array. */
const LARGEST = 4095;
/** Bits of the number that records which members of a message were seen. */
const BITS = 32;

const repeated: ReadonlySet<Role> = new Set(["strings", "map", "messages", "enumList", "extra"]);

type SlotOptions = Partial<Pick<Slot, "parts" | "alternatives" | "value">>;

function slotOf(field: Field, role: Role, number: number, bit: number, more: SlotOptions = {}): Slot {
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
    table: noTable,
    names: [],
    value: more.value,
    parts: more.parts ?? [],
    alternatives: more.alternatives,
  };
}

/** Assigns the numbers and bits of one message, each once. */
class Layout {
  readonly byNumber: (Slot | undefined)[] = [];
  readonly #name: string;
  readonly #bits = new Map<string, number>();

  constructor(name: string) {
    this.#name = name;
  }

  /** A bit for each key. */
  bit(key: string): number {
    const known = this.#bits.get(key);
    if (known !== undefined) return known;
    if (this.#bits.size === BITS) throw new TypeError(`${this.#name} has more than ${BITS} members that can come together`);
    const bit = 1 << this.#bits.size;
    this.#bits.set(key, bit);
    return bit;
  }

  place(slot: Slot): Slot {
    const { number } = slot;
    const isNumber = Number.isInteger(number) && number > 0 && number <= LARGEST;
    if (!isNumber) throw new TypeError(`${this.#name}: ${number} is no field number from 1 to ${LARGEST}`);
    if (this.byNumber[number] !== undefined) throw new TypeError(`${this.#name}: the number ${number} is taken twice`);
    while (this.byNumber.length <= number) this.byNumber.push(undefined);
    this.byNumber[number] = slot;
    return slot;
  }
}

/** Compiles the table of one message. References to other messages are added later. Throws a TypeError if it is inconsistent. */
export function compileTable(message: MessageSpec, others: number): Table {
  const layout = new Layout(message.name);
  const byMember = new Map<string, Slot>();
  const lifts = new Map<string, Slot>();
  const variants = new Map<string, Slot>();
  const initial: Slot[] = [];
  let required = 0;
  for (const field of message.fields) {
    const slot = placeField(layout, field);
    if (field.initial !== undefined) initial.push(slot);
    if (field.initial !== undefined || field.open) required |= slot.bit;
    const places = field.lift === true ? lifts : byMember;
    const before = places.get(field.member);
    if (before !== undefined && field.when === undefined && field.part === undefined)
      throw new TypeError(`${message.name}: ${field.member} has two fields`);
    places.set(field.member, joined(before, slot));
  }
  for (const variant of message.variants ?? [])
    variants.set(variant.when, layout.place(slotOf(variant, "variant", variant.number, layout.bit("variant"))));
  const rest = message.rest === undefined ? undefined : layout.place(restOf(message.rest));
  if (layout.byNumber[others] !== undefined) throw new TypeError(`${message.name}: the number ${others} is that of all other members`);
  return {
    name: message.name,
    byMember,
    byNumber: layout.byNumber,
    others,
    initial,
    open: [...byMember.values(), ...lifts.values()].filter((slot) => slot.field.open === true),
    required,
    lifts: lifts.size === 0 ? undefined : lifts,
    variants: variants.size === 0 ? undefined : variants,
    rest,
  };
}

function restOf(number: number): Slot {
  return slotOf({ member: "", name: "extra", number, kind: "map" }, "extra", number, 0);
}

function placeField(layout: Layout, field: Field): Slot {
  // Only one field of a oneof is set. Fields of one member share its bit, except the parts of an object, which come together.
  const key = `${field.lift === true ? "_meta " : ""}${field.member}${field.part === undefined ? "" : ` ${field.part}`}`;
  const bit = layout.bit(field.oneof === undefined ? `member ${key}` : `oneof ${field.oneof}`);
  const { kind, number } = field;
  if (kind === "enums" && field.several === undefined) return layout.place(slotOf(field, "enumList", number, bit));
  const value = field.values === undefined ? undefined : slotOf({ ...field, kind: field.values, number: 2 }, field.values, 2, 0);
  const slot = layout.place(slotOf(field, kind, number, bit, { value }));
  if (field.twin !== undefined) layout.place(slotOf(field, "json", field.twin, bit));
  if (field.flag !== undefined) layout.place(slotOf(field, "flag", field.flag, layout.bit(`flag ${key}`)));
  if (field.several !== undefined) {
    const several = layout.place(slotOf(field, "enumList", field.several, layout.bit(`several ${key}`)));
    slot.mask = several.mask = slot.bit | several.bit;
  }
  return slot;
}

/** The slot of a member that has several fields: by its `type`, or one for each of its own members. */
function joined(before: Slot | undefined, slot: Slot): Slot {
  const { when, part } = slot.field;
  const bits = (before?.bit ?? 0) | slot.bit;
  if (when !== undefined)
    return slotOf(slot.field, "union", 0, bits, { alternatives: new Map([...(before?.alternatives ?? []), [when, slot] as const]) });
  if (part !== undefined) return slotOf(slot.field, "group", 0, bits, { parts: [...(before?.parts ?? []), slot] });
  return slot;
}
