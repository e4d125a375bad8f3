/** A keyword that no rule of protobuf says: ajv enforces it. */
export interface Residual {
  readonly pointer: string;
  readonly keyword: string;
}

/** What of a field its descriptor does not say. */
export interface FieldNote {
  /** The property's name, where it cannot be the JSON name. */
  readonly property?: string;
  readonly nullable?: true;
  readonly required?: true;
}
