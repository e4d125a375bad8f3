import { concat } from "../stream/index.js";
import { binaryOf, equal, eventually, member, ok } from "./assert.js";
import { type Check, check } from "./check.js";
import { GENERATED_TOOLS, pattern, reportOf } from "./service.js";

export const dataChecks: readonly Check[] = [
  check("a list is made as it is read", async (client, hops) => {
    for await (const tool of client.tools()) if (tool.name === "generated-0") break;
    const { made } = reportOf(await client.callTool("report"));
    ok(made <= 2_000 * hops, `${made} tools made when the first was read`);
  }),
  check("a list arrives whole and in order, collected or by pages", async (client) => {
    const all = await client.listTools();
    ok(!("nextCursor" in all), "the collected list has a nextCursor");
    const names = all.tools.map((tool) => tool.name).filter((name) => name.startsWith("generated-"));
    equal(
      names,
      Array.from({ length: GENERATED_TOOLS }, (_, at) => `generated-${at}`),
      "the tools",
    );
  }),
  check("a cursor server's pages keep their cursors and members", async (client) => {
    const names: string[] = [];
    const pages: unknown[] = [];
    for await (const reply of client.stream("resources/templates/list")) {
      if (reply.kind === "item") names.push(String(reply.value["name"]));
      if (reply.kind === "page") pages.push([reply.cursor, reply.rest["com.example/page"]]);
      if (reply.kind === "result") pages.push(reply.value["com.example/page"]);
    }
    equal(names, ["a", "b", "c", "d", "e", "f"], "the items");
    equal(pages, [["", 0], ["última", 1], 2], "the pages");
    const page = await client.listResourceTemplates({ cursor: "" });
    equal([page.resourceTemplates.map(({ name }) => name), page.nextCursor, page["com.example/page"]], [["c"], "última", 1], "one page");
  }),
  check("text and whole contents are read as they are", async (client) => {
    const { contents } = await client.readResource("test://text");
    equal(
      contents.map(({ text, mimeType }) => [text, mimeType]),
      [["grüße, 世界 🎈", "text/plain"]],
      "the text",
    );
    const whole = await client.readResource("test://whole");
    equal(
      whole.contents,
      [
        { uri: "test://whole", blob: "AAB=", mimeType: "x/y", _meta: { "com.example/k": null } },
        { uri: "test://whole#2", text: "second", extra: [] },
      ],
      "the contents",
    );
    equal(whole["com.example/more"], { deep: [1, null, false] }, "the unknown member");
    equal(
      (await client.readResource("test://empty")).contents.map(({ blob }) => blob),
      [""],
      "the empty resource",
    );
    const big = await client.readResource("test://big-whole");
    equal(big.contents[0]?.text?.length, 1_000_000, "the large text");
  }),
  check("a large resource arrives in chunks, from any offset", async (client) => {
    const size = 1_000_017;
    for (const offset of [0, 765_432, size - 1, size]) {
      const chunks: Uint8Array[] = [];
      let at = offset;
      for await (const chunk of client.readChunks(`test://bytes/${size}`, { offset, chunkSize: 50_000 })) {
        equal(chunk.offset, at, "the chunk's offset");
        const data = binaryOf(chunk.data);
        ok(data.byteLength <= 50_000, "a chunk is too large");
        at += data.byteLength;
        chunks.push(data);
      }
      const got = concat(chunks);
      const wanted = pattern(offset, size - offset);
      equal(got.byteLength, wanted.byteLength, `the length from ${offset}`);
      ok(
        got.every((byte, index) => byte === wanted[index]),
        `the octets from ${offset} differ`,
      );
    }
  }),
  check("a resource whose end falls on the end of a part arrives whole", async (client) => {
    // What a part holds is the wire's choice: 64 KiB, or as much as that is in base64, with what is around it.
    for (const part of [49_152, 65_536])
      for (const size of [part - 1, part, part + 1, 2 * part]) {
        let bytes = 0;
        for await (const { data } of client.readChunks(`test://even/${size}`)) bytes += data.length;
        equal(bytes, size, "the length");
      }
  }),
  check("leaving a read ends its source", async (client) => {
    let bytes = 0;
    for await (const chunk of client.readChunks("test://endless")) {
      bytes += chunk.data.length;
      if (bytes > 1_000_000) break;
    }
    ok(bytes < 3_000_000, "more was read than asked for");
    await eventually(async () => reportOf(await client.callTool("report")).left === 1, "the source is let go");
  }),
  check("leaving a list ends its source", async (client) => {
    for await (const tool of client.tools()) if (tool.name === "generated-0") break;
    await eventually(async () => reportOf(await client.callTool("report")).listsLeft === 1, "the source is let go");
  }),
  check("subscriptions bring changes, and watching follows the list", async (client) => {
    const listen = client.listen({ resourcesListChanged: true, resourceSubscriptions: ["test://live"] });
    const first = await listen.next();
    equal(first.value?.method, "notifications/subscriptions/acknowledged", "the first notification");
    await client.callTool("touch", { uri: "test://live", list: "resources" });
    const seen = new Set<string>();
    while (seen.size < 2) {
      const step = await listen.next();
      ok(step.done !== true, "the subscription ended");
      seen.add(`${step.value.method} ${String(step.value.params["uri"] ?? "")}`.trim());
    }
    equal([...seen].sort(), ["notifications/resources/list_changed", "notifications/resources/updated test://live"], "the changes");
    await listen.return();
    const watch = client.watch("test://l*");
    const change = watch.next();
    let changed: unknown;
    void change.then((step) => {
      changed = step.value;
    });
    await eventually(async () => {
      await client.callTool("touch", { uri: "test://live" });
      return changed !== undefined;
    }, "the watched change");
    equal(member(changed, "uri"), "test://live", "the watched uri");
    await watch.return();
  }),
];
