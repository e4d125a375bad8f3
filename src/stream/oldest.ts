/** Deletes the entry that was added first, as from a cache that is full. */
export function dropOldest<K>(entries: Map<K, unknown>): void {
  for (const key of entries.keys()) {
    entries.delete(key);
    return;
  }
}
