import { type Between, type Chain, type Eras, type Hop, openChain } from "./chain.js";
import { type Change, changes } from "./diff.js";
import { handshake } from "./handshake.js";
import { firstOf, type Heard, Inbox } from "./inbox.js";
import { at, exact, textOf } from "./json.js";
import { messageText, methodText, noteText, outcomeText, paramsText, type Script, type Step } from "./script.js";

/** How what one end sent differs from what the other end heard. */
export interface Difference extends Omit<Change, "kind"> {
  readonly kind:
    | Change["kind"]
    /** It never arrived. */
    | "lost"
    /** It arrived after the answer of its call. */
    | "late"
    /** The relay answered it, and nobody else heard of it. */
    | "answered"
    /** The relay refused it. */
    | "refused"
    /** Nobody sent it. */
    | "extra";
  readonly from: "client" | "server";
  readonly what: "request" | "notification" | "result" | "error";
  readonly method: string;
  readonly script: string;
  readonly eras: Eras;
  readonly hops: readonly Hop[];
}

/** Milliseconds that what may well be lost is waited for, and what may not. */
const LOST = 200;
const UNANSWERED = 5000;

/** A chain between raw ends, and what of the scripts did not arrive as it was sent. */
export class Exchange {
  readonly differences: Difference[] = [];
  readonly #hops: readonly Hop[];
  readonly #eras: Eras;
  readonly #expected: (difference: Difference) => boolean;
  readonly #client = new Inbox();
  readonly #server = new Inbox();
  #chain!: Chain;
  readonly #ahead = new Set<string>();
  #count = 0;
  #script = "handshake";
  messages = 0;

  private constructor(hops: readonly Hop[], eras: Eras, expected: (difference: Difference) => boolean) {
    this.#hops = hops;
    this.#eras = eras;
    this.#expected = expected;
  }

  /** `expected` says of a difference whether it is to be reckoned with: then nobody waits long for what would refute it. */
  static async open(hops: readonly Hop[], eras: Eras, expected: (difference: Difference) => boolean, between?: Between): Promise<Exchange> {
    const exchange = new Exchange(hops, eras, expected);
    await exchange.#open(between);
    return exchange;
  }

  async #open(between?: Between): Promise<void> {
    const shake = handshake(this.#eras.server);
    const heard = {
      client: (text: string) => this.#client.push(text),
      server: (text: string) => {
        if (!shake.take(text)) this.#server.push(text);
      },
      ready: (server: Chain["server"]) => shake.begin((text, call) => server.send(text, call)),
    };
    this.#chain = await openChain(this.#hops, this.#eras, heard, between);
    if (this.#eras.client === "legacy") {
      this.#chain.client.send(messageText('"init"', methodText("initialize", shake.initialize)));
      const heard = await this.#client.next(({ id }) => id === '"init"', 10_000);
      if (heard === undefined) throw new Error(`initialize is not answered over ${this.#hops.join(" ")}`);
      this.#add({ from: "client", what: "request", method: "initialize", kind: "answered", path: "", is: heard.text });
      if (this.#eras.server === "legacy") this.#compare("server", "result", "initialize", shake.initialized('"init"'), heard.text);
      this.#chain.client.send(messageText(undefined, methodText("notifications/initialized", undefined)));
      // What the relay opens for a session, it has opened once this is answered.
      await this.run({
        kind: "call",
        name: "first",
        method: "tools/call",
        params: '"name":"first","arguments":{}',
        answer: { result: '"content":[]' },
      });
    }
    this.#client.drain();
    this.#server.drain();
  }

  async close(): Promise<void> {
    await this.#chain.close();
  }

  async run(script: Script): Promise<void> {
    this.#script = script.name;
    const number = ++this.#count;
    if (script.kind === "call")
      await this.#call(script, number % 2 === 0 ? String(number) : `"id ${number}"`, number % 3 === 0 ? `${number}` : `"token ${number}"`);
    else await this.#note(script);
    for (const heard of this.#client.drain()) this.#extra("server", heard);
    for (const heard of this.#server.drain()) {
      const { id, method, message, text } = heard;
      // The next page of a list may be asked for before the client does: it is answered when that is its turn.
      if (method?.endsWith("/list") && at(message, "params", "cursor") !== undefined) {
        this.#server.push(text);
        if (this.#ahead.has(text)) continue;
        this.#ahead.add(text);
      } else if (id !== undefined && method !== undefined) this.#chain.server.send(messageText(id, '"result":{}'), id);
      this.#extra("client", heard);
    }
  }

  #extra(from: Difference["from"], { method = "", id, text }: Heard): void {
    this.#add({ from, what: id === undefined ? "notification" : "request", method, kind: "extra", path: "", is: text });
  }

  async #note(script: Exclude<Script, { kind: "call" }>): Promise<void> {
    const toServer = script.kind === "client note";
    const count = script.kind === "server note" ? (script.times ?? 1) : 1;
    const texts = Array.from({ length: count }, (_, index) => noteText(script.method, script).replaceAll("@n", String(index)));
    for (const text of texts) (toServer ? this.#chain.client : this.#chain.server).send(text);
    const from = toServer ? "client" : "server";
    for (const text of texts) {
      this.messages++;
      await this.#arrives(from, script.method, text, text);
    }
  }

  async #call(script: Extract<Script, { kind: "call" }>, id: string, token: string): Promise<void> {
    const { method, steps = [] } = script;
    const fill = (text: string, ownId: string, ownToken: string): string => text.replaceAll("@token", ownToken).replaceAll("@id", ownId);
    const sent = fill(messageText(id, methodText(method, paramsText(script, this.#eras.client === "modern")), script.extra), id, token);
    this.messages += 2;
    this.#chain.client.send(sent);
    const isAnswer = (heard: Heard): boolean => heard.id === id && heard.method === undefined;
    const isRequest = (heard: Heard): boolean =>
      heard.id !== undefined && heard.method === method && cursorOf(heard.message) === cursorOf(exact(sent));
    const first = await firstOf(UNANSWERED, [this.#server, isRequest], [this.#client, isAnswer]);
    if (first?.inbox !== this.#server) return this.#unheard("client", method, sent, first?.heard);
    const request = first.heard;
    this.#compare("client", "request", method, sent, request.text);
    const theirs = request.id as string;
    const theirToken = textOf(at(request.message, "params", "_meta", "progressToken") ?? exact("null"));
    const notes: { method: string; text: string }[] = [];
    for (const step of steps) {
      this.messages++;
      const written = (ownId: string, ownToken: string): string => fill(stepText(step, askId(this.#count)), ownId, ownToken);
      if ("ask" in step) {
        this.#chain.server.send(written(theirs, theirToken), theirs);
        await this.#ask(step, written(id, token));
      } else if ("note" in step) {
        this.#chain.server.send(written(theirs, theirToken), theirs);
        notes.push({ method: step.note, text: written(id, token) });
      } else {
        this.#chain.client.send(written(id, token));
        await this.#arrives("client", step.said, written(id, token), written(theirs, theirToken));
      }
    }
    const outcome = script.answer;
    if (outcome === "none") return;
    const rest = outcomeText(outcome);
    this.#chain.server.send(fill(messageText(theirs, rest, outcome.extra), theirs, theirToken), theirs);
    const answer = await this.#answer(isAnswer, isRequest, (to) => fill(messageText(to, rest, outcome.extra), to, theirToken));
    const what = "result" in outcome ? "result" : "error";
    const expected = fill(messageText(id, rest, outcome.extra), id, token);
    const before = this.#client.drain();
    if (answer === undefined) this.#add({ from: "server", what, method, kind: "lost", path: "", was: expected });
    else this.#compare("server", what, method, expected, answer.text);
    for (const note of notes) await this.#noted(note, before);
    for (const heard of before) this.#client.push(heard.text);
  }

  /** Waits for the answer. If the relay makes the call once more meanwhile, that is answered alike, and another call with nothing. */
  async #answer(
    isAnswer: (heard: Heard) => boolean,
    isRequest: (heard: Heard) => boolean,
    again: (id: string) => string,
  ): Promise<Heard | undefined> {
    for (;;) {
      const isOther = (heard: Heard): boolean =>
        heard.id !== undefined && heard.method !== undefined && cursorOf(heard.message) === undefined;
      const next = await firstOf(UNANSWERED, [this.#client, isAnswer], [this.#server, isRequest], [this.#server, isOther]);
      if (next?.inbox !== this.#server) return next?.heard;
      const { id } = next.heard;
      this.#extra("client", next.heard);
      this.#chain.server.send(isRequest(next.heard) ? again(id as string) : messageText(id, '"result":{"tools":[]}'), id);
    }
  }

  async #noted({ method, text }: { readonly method: string; readonly text: string }, before: Heard[]): Promise<void> {
    const index = before.findIndex((heard) => heard.method === method && heard.id === undefined);
    if (index >= 0) return this.#compare("server", "notification", method, text, (before.splice(index, 1)[0] as Heard).text);
    if (await this.#arrives("server", method, text, text))
      this.#add({ from: "server", what: "notification", method, kind: "late", path: "" });
  }

  /** Waits for a notification at the other end. */
  async #arrives(from: Difference["from"], method: string, sent: string, expected: string): Promise<boolean> {
    const lost = { from, what: "notification", method, kind: "lost", path: "", was: sent } as const;
    const ms = this.#expected(this.#placed(lost)) ? LOST : UNANSWERED;
    const heard = await (from === "client" ? this.#server : this.#client).next(
      (other) => other.method === method && other.id === undefined,
      ms,
    );
    if (heard === undefined) this.#add(lost);
    else this.#compare(from, "notification", method, expected, heard.text);
    return heard !== undefined;
  }

  async #ask(step: Extract<Step, { ask: string }>, text: string): Promise<void> {
    const own = textOf(at(exact(text), "id") as ReturnType<typeof exact>);
    const isAnswer = (heard: Heard): boolean => heard.id === own && heard.method === undefined;
    const first = await firstOf(
      UNANSWERED,
      [this.#client, (heard) => heard.method === step.ask && heard.id !== undefined],
      [this.#server, isAnswer],
    );
    if (first?.inbox !== this.#client) return this.#unheard("server", step.ask, text, first?.heard);
    const asked = first.heard;
    this.#compare("server", "request", step.ask, text, asked.text);
    if (step.said !== undefined) await this.#saidDuring(step.said, text, asked);
    const rest = outcomeText(step.answer);
    this.#chain.client.send(messageText(asked.id, rest, step.answer.extra));
    const answer = await this.#server.next(isAnswer, UNANSWERED);
    const what = "result" in step.answer ? "result" : "error";
    const expected = messageText(own, rest, step.answer.extra);
    if (answer === undefined) this.#add({ from: "client", what, method: step.ask, kind: "lost", path: "", was: expected });
    else this.#compare("client", what, step.ask, expected, answer.text);
  }

  /** What a client says of a question before it answers. */
  async #saidDuring({ method, ...note }: NonNullable<Extract<Step, { ask: string }>["said"]>, sent: string, asked: Heard): Promise<void> {
    const token = (message: Heard["message"]): string => textOf(at(message, "params", "_meta", "progressToken") ?? exact("null"));
    const text = noteText(method, note);
    this.#chain.client.send(text.replaceAll("@token", token(asked.message)));
    const expected = text.replaceAll("@token", token(exact(sent)));
    await this.#arrives("client", method, text, expected);
  }

  /** A request that reached nobody. */
  #unheard(from: Difference["from"], method: string, sent: string, answer: Heard | undefined): void {
    const kind = answer === undefined ? "lost" : at(answer.message, "error") === undefined ? "answered" : "refused";
    this.#add({ from, what: "request", method, kind, path: "", was: sent, ...(answer && { is: answer.text }) });
  }

  #compare(from: Difference["from"], what: Difference["what"], method: string, sent: string, arrived: string): void {
    const [was, is] = [exact(sent), exact(arrived)];
    if (at(was, "result") !== undefined && at(is, "error") !== undefined)
      return this.#add({ from, what, method, kind: "refused", path: "", was: sent, is: arrived });
    for (const change of changes(was, is)) this.#add({ from, what, method, ...change });
  }

  #add(difference: Omit<Difference, "script" | "eras" | "hops">): void {
    this.differences.push(this.#placed(difference));
  }

  #placed(difference: Omit<Difference, "script" | "eras" | "hops">): Difference {
    return { ...difference, script: this.#script, eras: this.#eras, hops: this.#hops };
  }
}

/** The page of a list that is asked for, as text. */
function cursorOf(message: Heard["message"]): string | undefined {
  const cursor = at(message, "params", "cursor");
  return cursor === undefined ? undefined : textOf(cursor);
}

const askId = (count: number): string => (count % 2 === 0 ? `${1000 + count}` : `"ask ${count}"`);

function stepText(step: Step, id: string): string {
  if ("ask" in step) return messageText(id, methodText(step.ask, paramsText(step)), step.extra);
  return noteText("note" in step ? step.note : step.said, step);
}
