/** A JSON object whose members were checked to be JSON where they entered; treat it as read-only. */
export type JsonObject = { readonly [member: string]: unknown };

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** About how many bytes of JSON a value makes, without making them: what byte limits count in. */
export function weigh(value: unknown): number {
  switch (typeof value) {
    case "string":
      return value.length + 2;
    case "number":
      return 8;
    case "object": {
      if (value === null) return 4;
      if (value instanceof Uint8Array) return value.byteLength;
      let sum = 2;
      if (Array.isArray(value)) {
        for (const element of value) sum += weigh(element) + 1;
        return sum;
      }
      for (const key in value) sum += key.length + 4 + weigh((value as JsonObject)[key]);
      return sum;
    }
    default:
      return 5;
  }
}
