import type { ConvertedSchema } from "../../dist/schema/index.js";

export interface Sums {
  values: number;
  on: number;
  off: number;
  own: number;
  accepted: number;
  survived: number;
  back: number;
  readonly exceptions: Map<string, { count: number; example: string }>;
}
export function zero(): Sums;
export function compare(converted: ConvertedSchema, label: string, count: number, seed: number, sums: Sums): Promise<void>;
