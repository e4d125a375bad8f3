/** Joins the chunks. A single chunk is returned itself, not copied. */
export function concat(chunks: readonly Uint8Array[]): Uint8Array {
  const [first] = chunks;
  if (chunks.length === 1 && first !== undefined) return first;
  let length = 0;
  for (const chunk of chunks) length += chunk.byteLength;
  const whole = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.byteLength;
  }
  return whole;
}
