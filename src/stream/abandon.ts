/** Returns an iterator without waiting for it. Nobody can handle what its cleanup throws, so that is ignored. */
export function abandon(open: () => AsyncIterator<unknown>): void {
  try {
    open()
      .return?.()
      .then(undefined, () => {});
  } catch {
    // As above.
  }
}
