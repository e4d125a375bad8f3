/** What becomes a rule of a message. Beyond it a keyword is residual, so no fault has these names. What a schema may cost is in `fixedLimits`. */
export const ruleLimits = {
  /** Values of an enum. */
  enumValues: 1_000,
  /** Characters of a CEL expression. */
  expression: 4_000,
} as const;

/** What is kept of the descriptors that were found by reference. Beyond it the oldest are dropped, so no fault has these names. */
export const schemaCacheLimits = {
  /** Sets in memory. */
  memorySets: 256,
  /** Their bytes: 64 MiB. */
  memoryBytes: 67_108_864,
  /** Labels in memory. */
  memoryLabels: 4_096,
  /** Bytes of all files in the folder `cache`: 512 MiB. */
  diskBytes: 536_870_912,
} as const;

/** Bytes of a request to a schema registry, which has only names: 1 MiB. Connect refuses more as `resource_exhausted`, without `data.limit`. */
export const registryRequestBytes = 1_048_576;
