import {
  Caller,
  Canceller,
  type Context,
  createServer,
  guard,
  type Layer,
  layered,
  type Replies,
  type Reply,
  resultOf,
  type Service,
} from "anywire";
import { atMost, type Bench, format, type Outcome } from "./figure.js";
import { type Contender, median, type Rated, takeTurns } from "./rounds.js";

const LAYERS = 6;

/** What layers cost: microseconds a call through several of them over none. */
export const waist: Bench = { name: "waist", run };

async function run(): Promise<Outcome> {
  const server = createServer({ name: "bench", version: "1.0.0" }).tool("echo", {}, ({ text }) => text as string);
  const contenders = [
    calls("no layers", server),
    calls(`${LAYERS} layers that return the inner replies`, through(server, passing)),
    calls(`${LAYERS} layers that wrap them`, through(server, wrapping)),
    calls(`${LAYERS} layers that are generators`, through(server, looping)),
  ];
  const rated = await takeTurns(contenders, { rounds: 25, ms: 60, warmUpMs: 500 });
  const [none, ...layers] = rated as [Rated, Rated, Rated, Rated];
  return {
    figures: layers.slice(0, 1).map((each) => atMost(`cost a call of ${each.name}`, cost(each, none), 3, " us", 2)),
    notes: [
      `a call through no layers: ${format(1e6 / median(none.rates), 2)} us`,
      ...layers.map((each) => `more through ${each.name}: ${format(cost(each, none), 2)} us`),
    ],
  };
}

/** Microseconds more, the median over the rounds. */
function cost(layers: Rated, none: Rated): number {
  return median(layers.rates.map((rate, at) => 1e6 / rate - 1e6 / (none.rates[at] ?? Number.NaN)));
}

function through(service: Service, layer: Layer): Service {
  return layered(service, ...Array.from({ length: LAYERS }, () => layer));
}

function calls(name: string, service: Service): Contender {
  const client: Context["client"] = { identity: new Caller(), era: "modern", protocolVersion: "2026-07-28", capabilities: {} };
  return {
    name,
    async run(times) {
      const began = performance.now();
      for (let at = 0; at < times; at++) {
        const request = { method: "tools/call", params: { name: "echo", arguments: { text: "hello" } } };
        await resultOf(service.call(request, { client, cancel: new Canceller(), progress: false, metadata: {} }));
      }
      return performance.now() - began;
    },
  };
}

const passing: Layer = (inner) => ({
  call: (request, context) => inner.call(request, context),
  notify: (notification, context) => inner.notify(notification, context),
});

const wrapping: Layer = (inner) => ({ ...passing(inner), call: (request, context) => new Wrapped(inner.call(request, context)) });

class Wrapped implements Replies {
  readonly #inner: Replies;

  constructor(inner: Replies) {
    this.#inner = inner;
  }

  next(): Promise<IteratorResult<Reply, undefined>> {
    return this.#inner.next().then((step) => step);
  }

  return(): Promise<IteratorResult<Reply, undefined>> {
    return this.#inner.return();
  }

  [Symbol.asyncIterator](): Replies {
    return this;
  }
}

/** A layer as a generator, which the guard makes one that can be left in the middle of next(). */
const looping: Layer = (inner) => ({
  ...passing(inner),
  call: (request, context) =>
    guard(async function* (guarded): AsyncGenerator<Reply, undefined> {
      for await (const reply of inner.call(request, guarded)) yield reply;
    }, context),
});
