import { afterEach, describe, expect, it, vi } from "vitest";
import { gate, type Peer, peer } from "../../../test/support/peer.js";
import { createClient, Fault, type JsonObject, type McpClient, type ResourceChange, type Stream } from "../index.js";

interface Listener {
  readonly uris: readonly string[];
  tell(method: string, params?: JsonObject): void;
  end(fault?: Fault): void;
}

/** A server with resources that come, go and change. */
function store(...uris: string[]) {
  const resources = new Set(uris);
  const listeners = new Set<Listener>();
  const subscriptions: string[][] = [];
  const state = { acknowledge: Promise.resolve() as Promise<void>, lists: 0 };
  const server: Peer = peer(
    {
      async *"resources/list"() {
        state.lists++;
        for (const uri of [...resources]) yield { kind: "item", value: { uri, name: uri } };
        return {};
      },
      async *"subscriptions/listen"(params, { cancel }) {
        const filter = params["notifications"] as { resourceSubscriptions: string[] };
        const queue: { method: string; params: JsonObject }[] = [];
        let end: { fault?: Fault } | undefined;
        let wake = gate();
        const listener: Listener = {
          uris: filter.resourceSubscriptions,
          tell: (method, told = {}) => {
            queue.push({ method, params: told });
            wake.open();
          },
          end: (fault) => {
            end = fault === undefined ? {} : { fault };
            wake.open();
          },
        };
        cancel.on(() => {
          listeners.delete(listener);
          listener.end();
        });
        await state.acknowledge;
        if (cancel.fired) return {};
        listeners.add(listener);
        subscriptions.push([...filter.resourceSubscriptions]);
        yield { kind: "note", method: "notifications/subscriptions/acknowledged", params };
        for (;;) {
          for (const note of queue.splice(0)) yield { kind: "note", ...note };
          if (end?.fault !== undefined) throw end.fault;
          if (end !== undefined) return {};
          await wake;
          wake = gate();
        }
      },
    },
    { capabilities: { resources: { subscribe: true, listChanged: true } } },
  );
  const listChanged = (): void => {
    for (const listener of listeners) listener.tell("notifications/resources/list_changed");
  };
  return {
    server,
    state,
    listeners,
    subscriptions,
    listChanged,
    create: (uri: string) => {
      resources.add(uri);
      listChanged();
    },
    remove: (uri: string) => {
      resources.delete(uri);
      listChanged();
    },
    modify: (uri: string) => {
      for (const listener of listeners) if (listener.uris.includes(uri)) listener.tell("notifications/resources/updated", { uri });
    },
  };
}

const opened: McpClient[] = [];
afterEach(async () => {
  for (const client of opened.splice(0)) await client.close();
});

async function watching(
  resources: ReturnType<typeof store>,
  patterns: string | string[],
  options: object = {},
): Promise<Stream<ResourceChange>> {
  const client = await createClient(resources.server);
  opened.push(client);
  return client.watch(patterns, options);
}

/** The next changes, as short as they can be told. */
async function take(stream: Stream<ResourceChange>, count: number): Promise<string[]> {
  const changes: string[] = [];
  while (changes.length < count) {
    const { value } = await stream.next();
    if (value === undefined) break;
    changes.push(`${value.change} ${value.uri}`);
  }
  return changes;
}

const subscribedTo = (resources: ReturnType<typeof store>, ...uris: string[]): Promise<void> =>
  vi.waitFor(() => expect([...resources.listeners].map((listener) => listener.uris)).toEqual([uris]));

describe("watch", () => {
  it("begins with what there is, if wanted, and sends nothing before", async () => {
    const resources = store("a:/1.txt", "a:/2.md", "a:/x/3.txt");
    const stream = await watching(resources, ["a:/*.txt", "a:/plain"], { includeInitial: true });
    expect(resources.server.of("subscriptions/listen")).toHaveLength(0);
    expect(await take(stream, 2)).toEqual(["initial a:/plain", "initial a:/1.txt"]);
    await stream.return();
  });

  it("tells of changes of what matches", async () => {
    const resources = store("a:/1", "a:/2", "b:/1");
    const stream = await watching(resources, "a:/**");
    const first = stream.next();
    await subscribedTo(resources, "a:/1", "a:/2");
    resources.modify("b:/1");
    resources.modify("a:/2");
    expect((await first).value).toEqual({ uri: "a:/2", change: "modified" });
    await stream.return();
    await vi.waitFor(() => expect(resources.listeners.size).toBe(0));
  });

  it("follows the list, and subscribes to what appears", async () => {
    const resources = store("a:/1");
    const stream = await watching(resources, "a:/*");
    const first = stream.next();
    await subscribedTo(resources, "a:/1");
    resources.create("b:/1");
    resources.create("a:/2");
    expect((await first).value).toEqual({ uri: "a:/2", change: "created" });
    // It was told after it was subscribed to, so what happens from here on is seen.
    await subscribedTo(resources, "a:/1", "a:/2");
    resources.modify("a:/2");
    expect(await take(stream, 1)).toEqual(["modified a:/2"]);
    resources.remove("a:/1");
    expect(await take(stream, 1)).toEqual(["deleted a:/1"]);
    await subscribedTo(resources, "a:/2");
    expect(resources.subscriptions).toEqual([[], ["a:/1"], ["a:/1", "a:/2"], ["a:/2"]]);
    await stream.return();
  });

  it("watches a URI that is in no list", async () => {
    const resources = store();
    const stream = await watching(resources, "a:/secret");
    const first = stream.next();
    await subscribedTo(resources, "a:/secret");
    resources.modify("a:/secret");
    expect((await first).value).toEqual({ uri: "a:/secret", change: "modified" });
    expect(resources.subscriptions).toEqual([["a:/secret"]]);
    await stream.return();
  });

  it("loses nothing while one subscription replaces another, and tells it once", async () => {
    const resources = store("a:/1");
    const stream = await watching(resources, "a:/*");
    const first = stream.next();
    await subscribedTo(resources, "a:/1");
    const acknowledge = gate();
    resources.state.acknowledge = acknowledge;
    resources.create("a:/2");
    await vi.waitFor(() => expect(resources.server.of("subscriptions/listen")).toHaveLength(3));
    // Only the old subscription is there to tell of this.
    expect([...resources.listeners].map((listener) => listener.uris)).toEqual([["a:/1"]]);
    resources.modify("a:/1");
    resources.modify("a:/1");
    acknowledge.open();
    expect([(await first).value, ...(await take(stream, 1))]).toEqual([{ uri: "a:/1", change: "modified" }, "created a:/2"]);
    await subscribedTo(resources, "a:/1", "a:/2");
    resources.modify("a:/2");
    expect(await take(stream, 1)).toEqual(["modified a:/2"]);
    await stream.return();
  });

  it("merges what the reader has not taken", async () => {
    const resources = store("a:/1", "a:/2", "a:/3");
    const stream = await watching(resources, "a:/*", { includeInitial: true });
    expect(await take(stream, 3)).toEqual(["initial a:/1", "initial a:/2", "initial a:/3"]);
    await subscribedTo(resources, "a:/1", "a:/2", "a:/3");
    for (let n = 0; n < 100; n++) resources.modify("a:/1");
    resources.modify("a:/2");
    resources.remove("a:/2");
    await subscribedTo(resources, "a:/1", "a:/3");
    resources.remove("a:/3");
    await subscribedTo(resources, "a:/1");
    resources.create("a:/3");
    resources.create("a:/4");
    await subscribedTo(resources, "a:/1", "a:/3", "a:/4");
    resources.modify("a:/1");
    resources.remove("a:/4");
    await subscribedTo(resources, "a:/1", "a:/3");
    expect(await take(stream, 3)).toEqual(["modified a:/1", "deleted a:/2", "modified a:/3"]);
    const next = stream.next();
    resources.modify("a:/3");
    expect((await next).value).toEqual({ uri: "a:/3", change: "modified" });
    await stream.return();
  });

  it("lists again for changes that came while it listed, but not once for each", async () => {
    const resources = store("a:/1");
    const stream = await watching(resources, "a:/*");
    const first = stream.next();
    await subscribedTo(resources, "a:/1");
    expect(resources.state.lists).toBe(1);
    for (let n = 0; n < 50; n++) resources.listChanged();
    resources.create("a:/2");
    expect((await first).value).toEqual({ uri: "a:/2", change: "created" });
    expect(resources.state.lists).toBeLessThan(10);
    await stream.return();
  });

  it("does not read on when the reader does not", async () => {
    let told = 0;
    const server = peer(
      {
        "resources/list": () => ({}),
        async *"subscriptions/listen"(params, { cancel }) {
          yield { kind: "note", method: "notifications/subscriptions/acknowledged", params };
          for (; told < 5000; told++) yield { kind: "note", method: "notifications/resources/updated", params: { uri: `a:/1#${told}` } };
          await new Promise<void>((resolve) => cancel.on(resolve));
          return {};
        },
      },
      { capabilities: { resources: { subscribe: true } } },
    );
    const client = await createClient(server);
    opened.push(client);
    const stream = client.watch("a:/1");
    await stream.next();
    await vi.waitFor(() => expect(told).toBeGreaterThan(1000));
    await client.ping();
    expect(told).toBeLessThan(1100);
    const rest = await take(stream, 4999);
    expect(new Set(rest).size).toBe(4999);
    await stream.return();
  });

  it("bounds the list that it keeps", async () => {
    const resources = store("a:/1", "a:/2", "a:/3");
    const client = await createClient(resources.server, { collectBytes: 10 });
    opened.push(client);
    await expect(client.watch("a:/*").next()).rejects.toMatchObject({ code: "overload" });
    await vi.waitFor(() => expect(resources.listeners.size).toBe(0));
  });

  it("can be left in the middle of next(), and at any point before", async () => {
    const resources = store("a:/1");
    const stream = await watching(resources, "a:/*");
    const pending = stream.next();
    await subscribedTo(resources, "a:/1");
    await stream.return();
    await expect(pending).resolves.toEqual({ done: true, value: undefined });
    await vi.waitFor(() => expect(resources.listeners.size).toBe(0));
    const early = await watching(resources, "a:/*");
    const soon = early.next();
    await early.return();
    await expect(soon).resolves.toEqual({ done: true, value: undefined });
    const unread = await watching(resources, "a:/*");
    await unread.return();
    await expect(unread.next()).resolves.toEqual({ done: true, value: undefined });
    await vi.waitFor(() => expect(resources.listeners.size).toBe(0));
  });

  it("follows a signal", async () => {
    const resources = store("a:/1");
    const controller = new AbortController();
    const removed = vi.spyOn(controller.signal, "removeEventListener");
    const stream = await watching(resources, "a:/*", { signal: controller.signal });
    const outcome = expect(stream.next()).rejects.toMatchObject({ code: "cancelled", cause: "enough" });
    await subscribedTo(resources, "a:/1");
    controller.abort("enough");
    await outcome;
    expect(removed).toHaveBeenCalled();
    await vi.waitFor(() => expect(resources.listeners.size).toBe(0));
    const sent = resources.server.calls.length;
    const late = await watching(resources, "a:/*", { signal: controller.signal });
    await expect(late.next()).rejects.toMatchObject({ code: "cancelled" });
    expect(resources.server.calls.slice(sent).map(({ request }) => request.method)).not.toContain("subscriptions/listen");
  });

  it("ends as the server ends it, behind what it told", async () => {
    const resources = store("a:/1");
    const ended = await watching(resources, "a:/*");
    const first = ended.next();
    await subscribedTo(resources, "a:/1");
    resources.modify("a:/1");
    for (const listener of resources.listeners) listener.end();
    expect((await first).value).toEqual({ uri: "a:/1", change: "modified" });
    await expect(ended.next()).resolves.toEqual({ done: true, value: undefined });
    resources.listeners.clear();
    const failed = await watching(resources, "a:/*");
    const outcome = expect(failed.next()).rejects.toMatchObject({ code: "unavailable", message: "gone" });
    await subscribedTo(resources, "a:/1");
    for (const listener of resources.listeners) listener.end(new Fault("unavailable", "gone"));
    await outcome;
  });

  it("fails with the list, unless only plain URIs are watched", async () => {
    const server = peer(
      {
        async *"subscriptions/listen"(params) {
          yield { kind: "note", method: "notifications/subscriptions/acknowledged", params };
          const { resourceSubscriptions } = params["notifications"] as { resourceSubscriptions: string[] };
          for (const uri of resourceSubscriptions) yield { kind: "note", method: "notifications/resources/updated", params: { uri } };
          await new Promise(() => {});
          return {};
        },
      },
      { capabilities: { resources: { subscribe: true } } },
    );
    const client = await createClient(server);
    opened.push(client);
    await expect(client.watch("a:/*").next()).rejects.toMatchObject({ code: "unknown-method" });
    await expect(client.watch("a:/1").next()).resolves.toMatchObject({ value: { uri: "a:/1", change: "modified" } });
  });
});
