import {
  Caller,
  Canceller,
  type Client,
  type Context,
  Fault,
  type JsonObject,
  type Replies,
  type Reply,
  type Service,
} from "../src/core/index.js";

export interface TestContext extends Context {
  readonly cancel: Canceller;
}

/** A context of a modern client that declared `capabilities`. */
export function contextOf(members: Partial<Omit<Context, "cancel" | "client">> & { readonly client?: Partial<Client> } = {}): TestContext {
  const client: Client = {
    identity: new Caller({ principal: "test" }),
    era: "modern",
    protocolVersion: "2026-07-28",
    capabilities: {},
    ...members.client,
  };
  return { progress: false, metadata: {}, ...members, client, cancel: new Canceller() };
}

export interface Outcome {
  /** All but the result. */
  readonly replies: readonly Reply[];
  readonly result: JsonObject;
}

/** Reads a call to its end. Asks go to `answer`. */
export async function outcome(
  service: Service,
  method: string,
  params: JsonObject = {},
  context: Context = contextOf(),
  answer?: (reply: Extract<Reply, { kind: "ask" }>) => void,
): Promise<Outcome> {
  const replies: Reply[] = [];
  for await (const reply of service.call({ method, params }, context)) {
    if (reply.kind === "result") return { replies, result: reply.value };
    replies.push(reply);
    if (reply.kind === "ask") answer?.(reply);
  }
  throw new Error("the call ended without a result");
}

/** The Fault a call ends with. */
export async function faultOf(service: Service, method: string, params: JsonObject = {}, context: Context = contextOf()): Promise<Fault> {
  try {
    await outcome(service, method, params, context);
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
  throw new Error("the call did not fail");
}

/** The next reply, which must be there. */
export async function nextOf(replies: Replies): Promise<Reply> {
  const step = await replies.next();
  if (step.done === true) throw new Error("the replies ended");
  return step.value;
}

/** Resolves when `holds` does; the test's own timeout is the limit. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}
