/** The code of a Node error, such as `ENOENT`; undefined if it has none. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}
