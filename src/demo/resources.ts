import type { Server } from "../api/index.js";
import { BIG_FILE_SIZE, bigFile } from "./big-file.js";
import { octets, sizeInWords } from "./generated.js";
import { png } from "./media.js";

const octetStream = "application/octet-stream";

/** Resources of every size: whole, from a file, and made as they are read. */
export function addResources(server: Server): void {
  server
    .resource(
      { uri: "demo://about", name: "about", mimeType: "text/plain" },
      () => "Any MCP client, any MCP server, any wire, either era.\n",
    )
    .resource({ uri: "demo://picture", name: "picture", mimeType: "image/png" }, () => png(32))
    .resource(
      {
        uri: "demo://file",
        name: "file",
        description: "A file of 64 MiB, read from disk in chunks",
        mimeType: "text/plain",
        size: BIG_FILE_SIZE,
      },
      (_uri, { range }) => {
        const offset = Math.min(range?.offset ?? 0, BIG_FILE_SIZE);
        return { size: BIG_FILE_SIZE, offset, data: bigFile(offset) };
      },
    )
    .resourceTemplate(
      {
        uriTemplate: "demo://generated/{size}",
        name: "generated",
        description: "Octets made as they are read: 10kb, 5mb, 1gb, or any number",
        mimeType: octetStream,
        list: () => [{ uri: "demo://generated/1gb", name: "1 GB", description: "Made as it is read", mimeType: octetStream, size: 1e9 }],
        complete: { size: (value) => ["1kb", "1mb", "100mb", "1gb"].filter((size) => size.startsWith(value)) },
      },
      (_uri, { variables, range }) => {
        const size = sizeInWords(variables["size"]);
        if (size === undefined) return undefined;
        const offset = Math.min(range?.offset ?? 0, size);
        return { size, offset, data: octets(offset, size) };
      },
    );
}
