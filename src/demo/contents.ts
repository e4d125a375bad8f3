import type { ImageContent, Server } from "../api/index.js";
import { png, wav } from "./media.js";

/** The demo's picture as content of a tool or a prompt. */
export function picture(): ImageContent {
  return { type: "image", mimeType: "image/png", data: base64(png(32)) };
}

/** Tools whose results are more than text. */
export function addContents(server: Server): void {
  server
    .tool("picture", { description: "Gives a small PNG" }, () => [picture()])
    .tool(
      "sound",
      {
        description: "Gives a short WAV",
        input: { type: "object", properties: { hertz: { type: "number", minimum: 20, maximum: 4000, default: 440 } } },
      },
      (args) => [{ type: "audio", mimeType: "audio/wav", data: base64(wav(Number(args["hertz"] ?? 440), 250)) }],
    )
    .tool("attachments", { description: "Gives a resource within the result, and a link to another" }, () => [
      { type: "text", text: "A resource that comes along, and one to be read later:" },
      { type: "resource", resource: { uri: "demo://note", mimeType: "text/plain", text: "This note came along." } },
      {
        type: "resource_link",
        uri: "demo://generated/1gb",
        name: "1 GB",
        description: "Made as it is read",
        mimeType: "application/octet-stream",
        size: 1_000_000_000,
      },
    ]);
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}
