/** The code of an error of Node's, such as `ENOENT`; undefined for one that has none. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}
