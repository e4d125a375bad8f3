/** Returns an iterator without waiting for it; what its cleanup throws has nobody to go to. */
export function abandon(open: () => AsyncIterator<unknown>): void {
  try {
    open()
      .return?.()
      .then(undefined, () => {});
  } catch {
    // As above.
  }
}
