import type { Server } from "anywire";
import { png } from "./samples.js";

export function addResources(server: Server): void {
  server
    .resource(
      { uri: "test://static-text", name: "static-text", description: "A text that stays", mimeType: "text/plain" },
      () => "This is the content of the static text resource.",
    )
    .resource({ uri: "test://static-binary", name: "static-binary", description: "An image that stays", mimeType: "image/png" }, () =>
      Buffer.from(png, "base64"),
    )
    .resource(
      { uri: "test://watched-resource", name: "watched-resource", description: "A text to subscribe to", mimeType: "text/plain" },
      () => "This is the content of the watched resource.",
    )
    .resourceTemplate(
      {
        uriTemplate: "test://template/{id}/data",
        name: "template",
        description: "Data of an id",
        mimeType: "application/json",
      },
      (_uri, { variables }) => {
        const id = String(variables["id"]);
        return JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` });
      },
    );
}
