import type { IncomingMessage } from "node:http";
import { createServer, progress, serve } from "anywire";
import type { Outcome } from "../figure.js";
import { begin, callOf, send } from "./raw.js";

const COUNT = 10_000;
const DROPS = 100;

/** Drops the stream of a legacy call many times while it sends notifications. */
export async function resume(): Promise<Outcome> {
  const server = createServer({ name: "bench", version: "1" }).tool("count", {}, async function* () {
    for (let at = 1; at <= COUNT; at++) yield progress(at, COUNT, "a notification of an ordinary length");
    return "done";
  });
  await using listener = await serve(server, "http://127.0.0.1:0");
  const headers = await begin(listener.address);
  const state: State = { seen: [], answered: false, last: undefined };
  let drops = 0;
  for (; !state.answered; drops++) {
    const response =
      state.last === undefined
        ? await send(listener.address, "POST", { headers, body: callOf("count", "legacy") })
        : await send(listener.address, "GET", { headers: { ...headers, accept: "text/event-stream", "last-event-id": state.last } });
    if (response.statusCode !== 200) throw new Error(`HTTP ${response.statusCode} after ${state.last}`);
    await read(response, state, drops < DROPS ? state.seen.length + Math.floor(COUNT / (DROPS + 1)) : Number.POSITIVE_INFINITY);
    // With whatever was on its way.
    response.destroy();
  }
  const ordered = state.seen.length === COUNT && state.seen.every((value, at) => value === at + 1);
  return {
    figures: [
      {
        name: `http: of ${COUNT} notifications, each once and in order, over ${drops - 1} drops of the stream`,
        value: `${ordered ? COUNT : `${state.seen.length}, out of order`}`,
        target: `${COUNT}`,
        pass: ordered && drops === DROPS + 1,
      },
    ],
    notes: [],
  };
}

interface State {
  readonly seen: number[];
  answered: boolean;
  last: string | undefined;
}

/** Reads events until so many notifications are there. */
async function read(response: IncomingMessage, state: State, until: number): Promise<void> {
  let text = "";
  try {
    for await (const chunk of response) {
      text += String(chunk);
      for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
        take(text.slice(0, end), state);
        text = text.slice(end + 2);
        if (state.seen.length >= until) return;
      }
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ECONNRESET") throw error;
  }
}

function take(event: string, state: State): void {
  state.last = /^id: (.+)$/m.exec(event)?.[1] ?? state.last;
  const data = /^data: (.+)$/m.exec(event)?.[1];
  if (data === undefined) return;
  const message = JSON.parse(data) as { method?: string; params?: { progress: number } };
  if (message.method === "notifications/progress" && message.params !== undefined) state.seen.push(message.params.progress);
  else state.answered = true;
}
