/** What becomes a rule of a message. Beyond it a keyword is residual, so no fault has these names. What a schema may cost is in `schemaLimits`. */
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

/** What `toolTyper` keeps of the tools that it has converted. Beyond it the least recently used are dropped, so no fault has these names. */
export const typedToolLimits = {
  /** Tools. A connection to a server of proto-mcp 1.0 remembers the messages of as many. */
  tools: 4_096,
  /** Bytes of their schemas and descriptors: 16 MiB. */
  bytes: 16_777_216,
} as const;

/** Times of `schemaStore` that are options, in milliseconds. */
export const schemaTimeouts = {
  /** How long the commit of a label is remembered: an hour. */
  labelMs: 3_600_000,
  /** For each answer of a registry. */
  timeoutMs: 20_000,
} as const;

/** Bytes of a request to a schema registry, which has only names: 1 MiB. Connect refuses more as `resource_exhausted`, without `data.limit`. */
export const registryRequestBytes = 1_048_576;
