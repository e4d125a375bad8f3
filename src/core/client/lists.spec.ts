import { describe, expect, it, vi } from "vitest";
import { all, type Handle, type Peer, peer } from "../../../test/support/peer.js";
import { type ClientOptions, createClient, type McpClient, type Tool } from "../index.js";

const tool = (n: number): Tool => ({ name: `tool-${n}`, inputSchema: {} });
let made = 0;

/** Pages of two, of which `made` counts the items. */
const paged: Handle = async function* ({ cursor }) {
  for (let n = cursor === undefined ? 1 : Number(cursor) + 1; n <= 5; n++) {
    made++;
    yield { kind: "item", value: tool(n) };
    if (n % 2 === 0) yield { kind: "page", cursor: n === 2 ? "" : String(n), rest: { page: n / 2, _meta: { a: n } }, own: true };
  }
  return { resultType: "complete", ttlMs: 5 };
};

async function withLists(handlers: Record<string, Handle>, options?: ClientOptions): Promise<{ client: McpClient; server: Peer }> {
  made = 0;
  const server = peer(handlers);
  return { client: await createClient(server, options), server };
}

describe("a list as a stream", () => {
  it("gives items as they are pulled, across pages", async () => {
    const { client, server } = await withLists({ "tools/list": paged });
    const stream = client.tools({ pageSize: 2 });
    expect((await stream.next()).value).toEqual(tool(1));
    expect(made).toBe(1);
    expect(await all(stream)).toEqual([2, 3, 4, 5].map(tool));
    expect(server.of("tools/list").map(({ request, context }) => [request.params, context.pageSize])).toEqual([[{}, 2]]);
  });

  it("ends when it is left", async () => {
    const { client, server } = await withLists({ "tools/list": paged });
    for await (const { name } of client.tools()) if (name === "tool-3") break;
    expect(server.left).toEqual(["tools/list"]);
    expect(made).toBe(3);
  });

  it("exists for each kind, and hands on what else is said", async () => {
    const one = (value: object): Handle =>
      async function* () {
        yield { kind: "log", params: { level: "info", data: "listing" } };
        yield { kind: "item", value: { ...value } };
        return {};
      };
    const onLog = vi.fn();
    const { client } = await withLists(
      {
        "resources/list": one({ uri: "a:b", name: "b" }),
        "resources/templates/list": one({ uriTemplate: "a:{b}", name: "t" }),
        "prompts/list": one({ name: "p" }),
      },
      { onLog },
    );
    expect(await all(client.resources())).toEqual([{ uri: "a:b", name: "b" }]);
    expect(await all(client.resourceTemplates())).toEqual([{ uriTemplate: "a:{b}", name: "t" }]);
    expect(await all(client.prompts())).toEqual([{ name: "p" }]);
    await expect(client.listResources()).resolves.toEqual({ resources: [{ uri: "a:b", name: "b" }] });
    await expect(client.listResourceTemplates()).resolves.toEqual({ resourceTemplates: [{ uriTemplate: "a:{b}", name: "t" }] });
    await expect(client.listPrompts()).resolves.toEqual({ prompts: [{ name: "p" }] });
    expect(onLog).toHaveBeenCalledTimes(6);
  });

  it("takes items that came whole", async () => {
    const { client } = await withLists({ "tools/list": () => ({ tools: [tool(1)] }) });
    expect(await all(client.tools())).toEqual([tool(1)]);
    await expect(client.listTools()).resolves.toEqual({ tools: [tool(1)] });
  });
});

describe("a list as a result", () => {
  it("is whole without a cursor", async () => {
    const { client } = await withLists({ "tools/list": paged });
    const whole = { resultType: "complete", ttlMs: 5, tools: [1, 2, 3, 4, 5].map(tool) };
    await expect(client.listTools()).resolves.toEqual(whole);
    await expect(client.call("tools/list")).resolves.toEqual(whole);
  });

  it("is one page with a cursor, the empty one too", async () => {
    const { client, server } = await withLists({ "tools/list": paged });
    await expect(client.listTools({ cursor: "" })).resolves.toEqual({
      tools: [tool(1), tool(2)],
      nextCursor: "",
      page: 1,
      _meta: { a: 2 },
    });
    await expect(client.listTools({ cursor: "2" })).resolves.toEqual({
      tools: [tool(3), tool(4)],
      nextCursor: "4",
      page: 2,
      _meta: { a: 4 },
    });
    expect(server.left).toEqual(["tools/list", "tools/list"]);
    await expect(client.listTools({ cursor: "4" })).resolves.toEqual({ resultType: "complete", ttlMs: 5, tools: [tool(5)] });
    expect(server.of("tools/list").map(({ request }) => request.params)).toEqual([{ cursor: "" }, { cursor: "2" }, { cursor: "4" }]);
  });

  it("is empty rather than absent", async () => {
    const { client } = await withLists({ "tools/list": () => ({}) });
    await expect(client.listTools()).resolves.toEqual({ tools: [] });
    await expect(client.listTools({ cursor: "x" })).resolves.toEqual({ tools: [] });
  });

  it("is bounded", async () => {
    const { client, server } = await withLists(
      {
        async *"tools/list"() {
          for (let n = 0; ; n++) yield { kind: "item", value: tool(n) };
        },
      },
      { collectBytes: 10_000 },
    );
    const over = { code: "overload", data: { limit: "collectBytes" } };
    await expect(client.listTools()).rejects.toMatchObject(over);
    await expect(client.listTools({ cursor: "" })).rejects.toMatchObject(over);
    expect(server.left).toEqual(["tools/list", "tools/list"]);
  });
});
