/** A keyword that no protobuf rule covers, so ajv enforces it. */
export interface Residual {
  readonly pointer: string;
  readonly keyword: string;
}

/** What a descriptor does not say about a field. */
export interface FieldNote {
  /** The property's name, if it cannot be the JSON name. */
  readonly property?: string;
  readonly nullable?: true;
  readonly required?: true;
}
