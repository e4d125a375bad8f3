import type { ContentBlock } from "anywire";

/** A PNG of one red pixel. */
export const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
/** A WAV without a sample. */
const wav = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

export const image: ContentBlock = { type: "image", data: png, mimeType: "image/png" };
export const audio: ContentBlock = { type: "audio", data: wav, mimeType: "audio/wav" };

export function text(value: string): ContentBlock {
  return { type: "text", text: value };
}

export function embedded(uri: string, mimeType: string, value: string): ContentBlock {
  return { type: "resource", resource: { uri, mimeType, text: value } };
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
