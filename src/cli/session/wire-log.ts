import type { Frame, JsonObject, Observer } from "../../api/index.js";
import { isObject, jsonText, redactText, weigh } from "../../core/index.js";
import { bytesText } from "../out/amount.js";
import { cleanLine } from "../out/clean.js";
import { redact } from "./redact.js";

export interface WireLogOptions {
  readonly line: (text: string) => void;
  /** Whether to write the messages too. */
  readonly bodies: boolean;
}

/** Characters of a message that are shown. */
const BODY = 2000;

/** An observer that writes a line for each message that crosses the wire. The items of a list share one line. */
export function wireLog(options: WireLogOptions): Observer {
  const asked = new Requests();
  const items = new Map<unknown, { count: number; bytes: number }>();

  const write = (direction: Frame["direction"], id: unknown, what: string, body?: JsonObject): void => {
    const number = id === undefined || id === null ? "" : ` #${String(id)}`;
    options.line(redactText(cleanLine(`${direction === "sent" ? "→" : "←"}${number} ${what}`)));
    if (options.bodies && body !== undefined) options.line(`    ${cleanLine(shown(body))}`);
  };
  const flush = (direction: Frame["direction"], id: unknown): void => {
    const before = items.get(id);
    if (before === undefined) return;
    items.delete(id);
    write(direction, id, `${before.count} items ${bytesText(before.bytes)}`);
  };
  const part = (direction: Frame["direction"], id: unknown, { kind, value, form, head, data }: JsonObject): void => {
    if (kind === "item") {
      const before = items.get(id) ?? { count: 0, bytes: 0 };
      items.set(id, { count: before.count + 1, bytes: before.bytes + weigh(value) });
      return;
    }
    flush(direction, id);
    if (kind === "content") write(direction, id, `content ${String(form)}`, isObject(head) ? head : undefined);
    if (kind === "chunk") write(direction, id, `chunk ${bytesText(typeof data === "string" ? data.length : weigh(data))}`);
  };
  const message = (direction: Frame["direction"], frame: JsonObject): void => {
    const { id, method, params, result, error } = frame;
    if (isObject(frame["part"])) return part(direction, id, frame["part"]);
    flush(direction, id);
    const size = bytesText(weigh(frame));
    if (typeof method === "string") {
      if (id !== undefined) asked.begin(direction, id);
      if (method === "notifications/cancelled" && isObject(params)) asked.end(direction, params["requestId"]);
      return write(direction, id, `${method} ${size}`, frame);
    }
    const took = asked.end(direction === "sent" ? "received" : "sent", id);
    const time = took === undefined ? "" : ` in ${Math.round(took)} ms`;
    if (isObject(error)) return write(direction, id, `error ${String(error["code"])} ${size}${time}: ${String(error["message"])}`, frame);
    const asks = isObject(result) && result["resultType"] === "input_required";
    return write(direction, id, `${asks ? "result, input required" : "result"} ${size}${time}`, frame);
  };
  return {
    frame(frame) {
      for (const each of [frame.message].flat()) message(frame.direction, each);
    },
  };
}

/** When each open request was made, on either side. */
class Requests {
  readonly #began = new Map<string, number>();

  begin(direction: Frame["direction"], id: unknown): void {
    this.#began.set(`${direction} ${jsonText(id)}`, performance.now());
  }

  /** The milliseconds that it took; undefined if there was no such request. */
  end(direction: Frame["direction"], id: unknown): number | undefined {
    const key = `${direction} ${jsonText(id)}`;
    const began = this.#began.get(key);
    this.#began.delete(key);
    return began === undefined ? undefined : performance.now() - began;
  }
}

function shown(body: JsonObject): string {
  const text = jsonText(redact(body)) ?? "";
  return text.length > BODY ? `${text.slice(0, BODY)}… ${text.length - BODY} characters more` : text;
}
