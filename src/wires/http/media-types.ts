export const JSON_TYPE = "application/json";
export const SSE_TYPE = "text/event-stream";
/** The content type of the answer to a read, for a client that asks for it: messages and bytes as they come. */
export const PARTS_TYPE = "application/vnd.anywire.parts";

/** The media type of a Content-Type, without its parameters. Its case does not count. */
export function mediaType(contentType: string | undefined): string | undefined {
  return contentType?.split(";", 1)[0]?.trim().toLowerCase();
}
