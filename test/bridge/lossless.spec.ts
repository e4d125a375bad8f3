import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { bridge } from "../../src/bridge/index.js";
import type { Hop } from "../relay/chain.js";
import { changes } from "../relay/diff.js";
import type { Difference } from "../relay/exchange.js";
import { discovered, handshake } from "../relay/handshake.js";
import { Inbox } from "../relay/inbox.js";
import { at, type Exact, exact, stringAt, textOf } from "../relay/json.js";
import type { Era } from "../relay/raw/types.js";
import { canSay, type RawName, rawWires } from "../relay/raw/wires.js";
import { report } from "../relay/rules.js";
import { verdict } from "../relay/run.js";
import { errors } from "../relay/said/errors.js";
import { methods } from "../relay/said/methods.js";
import { values } from "../relay/said/values.js";
import { messageText, methodText, outcomeText, paramsText } from "../relay/script.js";

const fixture = fileURLToPath(new URL("fixtures/texts.mjs", import.meta.url));
const fronts: Readonly<Partial<Record<RawName, string>>> = {
  http: "http://127.0.0.1:0/mcp",
  sse: "http://127.0.0.1:0/sse",
  ws: "ws://127.0.0.1:0/mcp",
  tcp: "tcp://127.0.0.1:0",
  grpc: "grpc://127.0.0.1:0",
  tunnel: "tunnel+grpc://127.0.0.1:0",
  unary: "grpc://127.0.0.1:0",
  connect: "grpc://127.0.0.1:0",
  proto: "proto+tcp://127.0.0.1:0",
};
const capabilities =
  '{"elicitation":{"form":{},"url":{}},"sampling":{"tools":{}},"roots":{"listChanged":true},"experimental":{"x":{"y":[null]}},"x-cap":-0}';
const info = '{"name":"raw","version":"0","title":"Raw é","x-info":{"big":12345678901234567890,"nil":null}}';

const eras: readonly Era[] = ["legacy", "modern"];
const said = handshake("legacy").initialized("0");
const handshakes: Readonly<Record<Era, string>> = {
  legacy: `"result":${textOf(at(exact(said), "result") as Exact)}`,
  modern: `"result":{${discovered}}`,
};

/** What of a legacy server's `initialize` a client hears, with the id of the client. */
const initialized = `{"jsonrpc":"2.0","id":"init",${handshakes.legacy}}`;

/** The server, and what it hears. */
function textServer(era: Era) {
  const folder = mkdtempSync(join(tmpdir(), "anywire-texts-"));
  const heard = join(folder, "heard");
  const opening = era === "legacy" ? "initialize" : "server/discover";
  writeFileSync(join(folder, "handshake"), handshakes[era]);
  writeFileSync(heard, "");
  return {
    command: { command: process.execPath, args: [fixture, folder, opening] },
    answers: (text: string) => writeFileSync(join(folder, "answer"), text),
    heard: (method: string): string[] => {
      const lines = readFileSync(heard, "utf8").split("\n").filter(Boolean);
      return lines.filter((line) => stringAt(exact(line), "method") === method);
    },
  };
}

const pairs = eras.flatMap((server) =>
  Object.keys(fronts).flatMap((front) => eras.map((client) => [front as RawName, client, server] as const)),
);

// The other specs of relays give each wire one connection that is as it should be. This is what a user has: one port, and `auto`.
describe.each(pairs.filter(([front, client]) => front !== "sse" || client === "legacy"))(
  "%s, a %s client, a %s server",
  (front, era, server) => {
    it("hear from each other through a bridge what each of them said", { timeout: 60_000 }, async () => {
      const { command, answers, heard } = textServer(server);
      await using made = await bridge({ listen: ["any://127.0.0.1:0"], to: command });
      const inbox = new Inbox();
      const address = (fronts[front] as string).replace(":0", `:${/:(\d+)/.exec(String(made.listeners[0]?.address))?.[1]}`);
      const peer = await rawWires[front].client(address, era, (text) => inbox.push(text));
      const found: Difference[] = [];
      let script = "handshake";
      const compare = (from: Difference["from"], what: Difference["what"], method: string, was: string, is = "{}"): void => {
        const one = { from, what, method, script, eras: { client: era, server }, hops: [front as Hop, "stdio" as Hop] };
        for (const change of changes(exact(was), exact(is))) found.push({ ...one, ...change });
      };
      const answerTo = (id: string): ReturnType<Inbox["next"]> =>
        inbox.next((other) => other.id === id && other.method === undefined, 5000);

      if (era === "legacy") {
        const params = `"capabilities":${capabilities},"clientInfo":${info}`;
        peer.send(messageText('"init"', methodText("initialize", `{"protocolVersion":"2025-11-25",${params}}`)));
        const answer = await answerTo('"init"');
        if (server === "legacy") compare("server", "result", "initialize", initialized, answer?.text);
        for (const name of ["capabilities", "serverInfo", "instructions", "x-result"])
          expect(sorted(at(answer?.message, "result", name))).toBe(sorted(at(exact(initialized), "result", name)));
        peer.send(messageText(undefined, methodText("notifications/initialized", undefined)));
      }
      const discover = { kind: "call", name: "discover", method: "server/discover", answer: "none" } as const;
      if (era === "modern" && canSay(front, discover)) {
        peer.send(messageText('"discover"', methodText(discover.method, paramsText({}, true))));
        const answer = await answerTo('"discover"');
        for (const name of ["capabilities", "instructions", "x-result"])
          expect(sorted(at(answer?.message, "result", name))).toBe(sorted(at(exact(initialized), "result", name)));
        const meta = at(answer?.message, "result", "_meta");
        expect(sorted(at(meta, "io.modelcontextprotocol/serverInfo"))).toBe(sorted(at(exact(initialized), "result", "serverInfo")));
        expect(sorted(at(meta, "x"))).toBe(sorted(at(exact(initialized), "result", "_meta", "x")));
      }
      for (const [index, one] of [...methods(server), ...values(server), ...errors()].entries()) {
        if (one.kind !== "call" || one.answer === "none" || !canSay(front, one)) continue;
        script = one.name;
        const id = index % 2 === 0 ? String(index + 1) : `"id ${index}"`;
        const outcome = `${outcomeText(one.answer)}${one.answer.extra === undefined ? "" : `,${one.answer.extra}`}`;
        answers(outcome);
        const before = heard(one.method).length;
        const request = messageText(id, methodText(one.method, paramsText(one, era === "modern")), one.extra);
        peer.send(request);
        const what = "result" in one.answer ? "result" : "error";
        compare("server", what, one.method, `{"jsonrpc":"2.0","id":${id},${outcome}}`, (await answerTo(id))?.text);
        compare("client", "request", one.method, request, heard(one.method)[before]);
      }
      await peer.close();

      const all = verdict();
      all.add(found);
      expect(report(all.unexplained)).toBe("");
      // A legacy client that can be asked has a session of its own, in which the server hears of it what it said.
      if (era !== "legacy" || server !== "legacy") return;
      const told = exact(heard("initialize").at(-1) ?? "{}");
      expect(sorted(at(told, "params", "clientInfo"))).toBe(sorted(exact(info)));
      expect(sorted(at(told, "params", "capabilities"))).toBe(sorted(exact(capabilities)));
    });
  },
);

/** The text with the members of every object in the order of their names: over protobuf their order is that of the fields. */
function sorted(value: Exact | undefined): string {
  if (value?.kind === "array") return `[${value.items.map(sorted).join()}]`;
  if (value?.kind !== "object") return value === undefined ? "" : textOf(value);
  const members = value.members.map(([name, member]) => `${JSON.stringify(name)}:${sorted(member)}`);
  return `{${members.sort().join()}}`;
}
