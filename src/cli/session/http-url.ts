/** The URL that a wire on HTTP makes its requests to: where one signs in. Undefined of every other address. */
export function httpUrl(address: string): URL | undefined {
  const http =
    /^(?:sse\+)?(https?:\/\/.+)$/i.exec(address)?.[1] ?? (/^wss?:\/\//i.test(address) ? address.replace(/^ws/i, "http") : undefined);
  return http !== undefined && URL.canParse(http) ? new URL(http) : undefined;
}
