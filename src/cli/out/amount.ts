/** A number of bytes in a readable unit. */
export function bytesText(bytes: number): string {
  let amount = bytes;
  for (const unit of ["B", "kB", "MB", "GB"]) {
    if (amount < 1000) return `${unit === "B" ? amount : amount.toFixed(amount < 10 ? 1 : 0)} ${unit}`;
    amount /= 1000;
  }
  return `${amount.toFixed(1)} TB`;
}

const BAR = 24;

/** How far something has come, on one line. */
export function progressText(done: number, total: number | undefined, about: string): string {
  if (total === undefined || !(total > 0)) return about;
  const share = Math.min(Math.max(done / total, 0), 1);
  const filled = Math.round(share * BAR);
  return `[${"#".repeat(filled)}${".".repeat(BAR - filled)}] ${String(Math.floor(share * 100)).padStart(3)}% ${about}`;
}
