/** Takes out what was put in first, as from a memory that is full. */
export function dropOldest<K>(entries: Map<K, unknown>): void {
  for (const key of entries.keys()) {
    entries.delete(key);
    return;
  }
}
