/** What a schema may cost before it is refused. Real ones stay far below: the largest of 1,174 tools has 1,500 values and 12 levels. */
export const schemaLimits = {
  /** Values in a schema. */
  values: 50_000,
  /** Levels of JSON in a schema. */
  depth: 128,
  /** Characters of all strings and names in a schema. */
  characters: 2_000_000,
  /** Schemas that are visited while one is converted: references and allOf can make many out of few. */
  steps: 50_000,
  /** Values of an enum that become a rule. A longer one is residual. */
  enumValues: 1_000,
  /** Characters of a CEL expression. What would take more is residual. */
  expression: 4_000,
} as const;

/** Levels of messages that a value may have. */
export const VALUE_DEPTH = 100;
