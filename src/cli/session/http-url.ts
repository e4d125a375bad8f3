/** The URL for the requests of a wire over HTTP, which is where to sign in. Undefined for any other address. */
export function httpUrl(address: string): URL | undefined {
  const http =
    /^(?:sse\+)?(https?:\/\/.+)$/i.exec(address)?.[1] ?? (/^wss?:\/\//i.test(address) ? address.replace(/^ws/i, "http") : undefined);
  return http !== undefined && URL.canParse(http) ? new URL(http) : undefined;
}
