import { type DescField, type DescMessage, type DescOneof, getOption, hasOption } from "@bufbuild/protobuf";
import { type FieldRules, field as fieldExtension } from "../../codec/gen/validate.js";
import { OVERFLOW, VARIANT } from "../convert/names.js";
import type { FieldNote } from "../convert/notes.js";

/** How a property is encoded. */
export interface FieldPlan {
  readonly desc: DescField;
  readonly property: string;
  readonly required: boolean;
  /** Whether null is also allowed. Undefined if unknown. */
  readonly nullable: boolean | undefined;
  /** The least number of items or members of a collection. */
  readonly least: number;
}

/** One of several objects, which a common property distinguishes. */
export interface VariantPlan {
  readonly property: string;
  readonly byValue: ReadonlyMap<string, FieldPlan>;
}

/** How an object is encoded as a message. */
export interface MessagePlan {
  readonly desc: DescMessage;
  readonly byProperty: ReadonlyMap<string, FieldPlan>;
  readonly byNumber: ReadonlyMap<number, FieldPlan>;
  /** The field for members that no other field can hold. */
  readonly overflow: DescField | undefined;
  /** Whether members without a property may be in the overflow. */
  readonly open: boolean;
  readonly variants: VariantPlan | undefined;
  /** A oneof is an object `{ case, value }` in JSON, under its own name. */
  readonly oneofs: ReadonlyMap<string, DescOneof>;
}

export type Notes = ReadonlyMap<string, FieldNote>;

/** The plans of related messages. Everything is in the descriptors except the notes, which a peer does not need. */
export class Plans {
  readonly #plans = new Map<DescMessage, MessagePlan>();
  readonly #notes: Notes | undefined;

  constructor(notes?: Notes) {
    this.#notes = notes;
  }

  of(desc: DescMessage): MessagePlan {
    let plan = this.#plans.get(desc);
    if (plan === undefined) this.#plans.set(desc, (plan = this.#make(desc)));
    return plan;
  }

  #make(desc: DescMessage): MessagePlan {
    const overflow = desc.fields.find((field) => isOverflow(field));
    const fields = desc.fields.filter((field) => field !== overflow).map((field) => this.#field(field));
    const variants = variantsOf(desc);
    return {
      desc,
      byProperty: new Map(
        fields.filter(({ desc: field }) => field.oneof === undefined || variants !== undefined).map((plan) => [plan.property, plan]),
      ),
      byNumber: new Map(fields.map((plan) => [plan.desc.number, plan])),
      overflow,
      open: overflow !== undefined && keysOf(overflow) === undefined,
      variants:
        variants === undefined
          ? undefined
          : { property: variants.property, byValue: new Map([...variants.byValue].map(([value, field]) => [value, this.#field(field)])) },
      oneofs: new Map(variants === undefined ? desc.oneofs.map((oneof) => [oneof.name, oneof]) : []),
    };
  }

  #field(desc: DescField): FieldPlan {
    const note = this.#notes?.get(`${desc.parent.typeName}.${desc.name}`);
    const collection = desc.fieldKind === "list" || desc.fieldKind === "map";
    return {
      desc,
      property: note?.property ?? desc.jsonName,
      required: note?.required ?? (!collection && rulesOf(desc)?.required === true),
      nullable: this.#notes === undefined ? undefined : note?.nullable === true,
      least: collection ? leastOf(desc) : 0,
    };
  }
}

export function rulesOf(field: DescField): FieldRules | undefined {
  return hasOption(field, fieldExtension) ? getOption(field, fieldExtension) : undefined;
}

function leastOf(field: DescField): number {
  const type = rulesOf(field)?.type;
  return Number(type?.case === "repeated" ? type.value.minItems : type?.case === "map" ? type.value.minPairs : 0);
}

/** Whether this is the field for members without a property. */
export function isOverflow(field: DescField): boolean {
  return (
    field.name === OVERFLOW &&
    field.fieldKind === "map" &&
    field.mapKind === "message" &&
    field.message.typeName === "google.protobuf.Value"
  );
}

/** The names that an overflow may have; undefined if any. */
export function keysOf(overflow: DescField): readonly string[] | undefined {
  const type = rulesOf(overflow)?.type;
  const keys = type?.case === "map" ? type.value.keys?.type : undefined;
  return keys?.case === "string" && keys.value.in.length > 0 ? keys.value.in : undefined;
}

/** Whether a message is one of several objects, which a required text distinguishes. */
export function variantsOf(desc: DescMessage): { readonly property: string; readonly byValue: ReadonlyMap<string, DescField> } | undefined {
  const [oneof, ...more] = desc.oneofs;
  if (oneof?.name !== VARIANT || more.length > 0 || oneof.fields.length !== desc.fields.length) return undefined;
  const first = oneof.fields[0];
  if (first?.fieldKind !== "message") return undefined;
  for (const { jsonName } of first.message.fields) {
    const byValue = new Map<string, DescField>();
    let all = true;
    for (const field of oneof.fields) {
      const values = field.fieldKind === "message" ? textsOf(field.message.fields.find((each) => each.jsonName === jsonName)) : [];
      all &&= values.length > 0 && values.every((value) => !byValue.has(value));
      for (const value of values) byValue.set(value, field);
    }
    if (all) return { property: jsonName, byValue };
  }
  return undefined;
}

/** The allowed texts of a required field, if they are listed. */
function textsOf(field: DescField | undefined): readonly string[] {
  const rules = field === undefined ? undefined : rulesOf(field);
  if (rules?.required !== true || rules.type.case !== "string") return [];
  const { value } = rules.type;
  return Object.hasOwn(value, "const") ? [value.const] : value.in;
}
