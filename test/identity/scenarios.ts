import { type Caller, Hung, within } from "./caller.js";

/** What became of what a server asked, logged and notified. */
export class Tally {
  asked = 0;
  answered = 0;
  refused = 0;
  hung = 0;
  /** Answers of somebody else, or to another question. */
  mistaken = 0;
  sent = 0;
  arrived = 0;
  /** Log entries and notifications that came after the result of their call. */
  late = 0;
  /** What was not as it should be, each in a line. */
  readonly wrong: string[] = [];

  add(other: Tally): void {
    for (const member of ["asked", "answered", "refused", "hung", "mistaken", "sent", "arrived", "late"] as const)
      this[member] += other[member];
  }

  toString(): string {
    const { asked, answered, refused, hung, mistaken, sent, arrived, late } = this;
    const questions = `asked ${asked}: ${answered} answered, ${refused} refused, ${mistaken} mistaken, ${hung} hung`;
    return sent === 0 ? questions : `${questions}; sent ${sent}: ${arrived} arrived, ${sent - arrived} dropped, ${late} after the result`;
  }
}

let count = 0;

/** A secret of one caller and one call. */
export function secretOf({ name }: Caller): string {
  return `${name}-${++count}-`;
}

/** What an answered question makes of its call, by tool. */
const outcomes: Readonly<Record<string, (name: string, secret: string) => string>> = {
  ask: (name, secret) => `${secret} <- ${name} says for ${secret}`,
  "ask-later": (name, secret) => `${secret} <- ${name} says for ${secret}`,
  sample: (name, secret) => `${secret} <- ${name} says for ${secret}`,
  roots: (name, secret) => `${secret} <- file:///${name}`,
};

/** Calls a tool that asks. Whatever happens but the right answer or a refusal is wrong. */
export async function question(caller: Caller, tool: string, tally: Tally, ms?: number): Promise<void> {
  const secret = secretOf(caller);
  tally.asked++;
  try {
    const text = await within(
      `${tool} of ${caller.name}`,
      caller.call(tool, ms === undefined ? { secret } : { secret, ms }),
      caller.waitMs,
    );
    const expected = outcomes[tool]?.(caller.name, secret);
    if (text === expected) {
      tally.answered++;
      return;
    }
    tally.mistaken++;
    tally.wrong.push(`${tool}: got ${text} in place of ${expected}`);
  } catch (error) {
    if (error instanceof Hung) tally.hung++;
    else tally.refused++;
    tally.wrong.push(`${tool}: ${(error as Error).message}`);
  }
}

/** Calls a tool that logs or notifies. What has not come with its result is waited for `patience` times 10 ms, to know late from never. */
export async function telling(caller: Caller, tool: "log" | "note", tally: Tally, patience = 10): Promise<void> {
  const secret = secretOf(caller);
  const from = caller.heard.length;
  tally.sent++;
  try {
    const text = await within(`${tool} of ${caller.name}`, caller.call(tool, { secret }), caller.waitMs);
    if (text !== `done ${secret}`) tally.wrong.push(`${tool}: got ${text}`);
  } catch (error) {
    if (error instanceof Hung) tally.hung++;
    tally.wrong.push(`${tool}: ${(error as Error).message}`);
    return;
  }
  const at = (text: string): number => caller.heard.findIndex((each, index) => index >= from && each.includes(text));
  for (let tries = 0; tries < patience && at(`${tool} of ${secret}`) < 0; tries++) await new Promise((resolve) => setTimeout(resolve, 10));
  const told = at(`${tool} of ${secret}`);
  if (told < 0) {
    tally.wrong.push(`${tool}: nothing came`);
    return;
  }
  tally.arrived++;
  if (told < at(`done ${secret}`)) return;
  tally.late++;
  // Only what is logged in a call has to come before its result: other notifications of a legacy server belong to its session.
  if (tool === "log") tally.wrong.push("log: came after the result of its call");
}

/** Twenty calls in a row with a read in their middle: each question is answered, and what is told arrives before the result. */
export async function inARow(caller: Caller): Promise<Tally> {
  const tally = new Tally();
  for (let round = 0; round < 4; round++) {
    await question(caller, "ask", tally);
    await telling(caller, "log", tally);
    await telling(caller, "note", tally);
    await question(caller, "sample", tally);
    await question(caller, "roots", tally);
    if (round !== 1) continue;
    const text = await within("a read", caller.read("test://text"));
    if (text !== "hello") tally.wrong.push(`read: got ${text}`);
  }
  return tally;
}

/**
 * Thirty-two questions that are open at the same time, among calls that ask nothing and end while questions are under way: a question
 * that was brought to the client in one of those must not end with it.
 */
export async function atOnce(caller: Caller, calls = 32): Promise<Tally> {
  const tally = new Tally();
  const quiet = async (ms: number): Promise<void> => {
    const secret = secretOf(caller);
    const text = await within(`pause of ${caller.name}`, caller.call("pause", { secret, ms }), caller.waitMs).catch(String);
    if (text !== `done ${secret}`) tally.wrong.push(`pause: got ${text}`);
  };
  const next = random(7);
  await Promise.all(
    Array.from({ length: calls }, (_, at) => [
      ...(at % 4 === 0 ? [quiet(10 + next(60))] : []),
      question(caller, at % 8 === 7 ? "ask" : "ask-later", tally, next(60)),
    ]).flat(),
  );
  return tally;
}

/** A small generator of numbers below `n`, the same for the same seed. */
function random(seed: number): (n: number) => number {
  let state = seed;
  return (n) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
}

/** Several callers ask, log and notify side by side, in an order that the seed gives. */
export async function sideBySide(callers: readonly Caller[], seed: number, calls = 8): Promise<Tally> {
  const tally = new Tally();
  const next = random(seed);
  const plans = callers.map(() => Array.from({ length: calls }, () => [next(4), next(25)] as const));
  const run = async (caller: Caller, plan: (typeof plans)[number]): Promise<void> => {
    for (const [what, ms] of plan) {
      await new Promise((resolve) => setTimeout(resolve, ms));
      if (what < 2) await question(caller, what === 0 ? "ask" : "ask-later", tally, ms);
      else await telling(caller, what === 2 ? "log" : "note", tally, 0);
    }
  };
  await Promise.all(callers.map((caller, at) => run(caller, plans[at] ?? [])));
  return tally;
}

/** What one caller heard of another: every text in which another's name is. */
export function crossed(callers: readonly Caller[]): string[] {
  return callers.flatMap((caller) =>
    callers
      .filter((other) => other !== caller)
      .flatMap((other) =>
        caller.heard.filter((text) => text.includes(other.name)).map((text) => `${caller.name} heard ${text.slice(0, 300)}`),
      ),
  );
}

/** Of the failures, those that no rule allows: a wrong answer or a hanging call. A refusal or a drop is allowed where callers cannot be told apart. */
export function forbidden(tally: Tally): string[] {
  return tally.wrong.filter((line) => line.includes(" got ") || line.includes(" hung"));
}
