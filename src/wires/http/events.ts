import { optionLimits } from "../../core/index.js";

/** Keeps the events of legacy streams, so that a client that lost its connection can resume. */
export interface EventStore {
  /**
   * Keeps an event and returns its id: the stream, an underscore, and a number that counts up from 0. `owner`: who the stream counts for, a
   * principal or a remote address.
   */
  append(stream: string, text: string, owner?: string): string | Promise<string>;
  /** The events of the stream after the given one; undefined if they are no longer kept. */
  after(id: string): Replay | undefined | Promise<Replay | undefined>;
  /** The stream has ended, and nobody may come back to it. */
  drop(stream: string): void;
}

export interface Replay {
  readonly stream: string;
  readonly events: readonly { readonly id: string; readonly text: string }[];
}

export interface MemoryEventsOptions {
  /** Events kept of one stream; 10,000 unless given. */
  readonly items?: number;
  /** Characters kept of one stream; 4 Mi unless given. Its last event is always kept. */
  readonly chars?: number;
  /**
   * Characters kept of all streams together; 64 Mi unless given. At the limit, the owner that has most loses events of the stream that was
   * quiet for longest.
   */
  readonly totalChars?: number;
  /** Characters kept of all streams of one owner; a quarter of `totalChars` unless given. */
  readonly ownerChars?: number;
}

interface Kept {
  readonly owner: Owner;
  /** The number of the oldest event kept. */
  first: number;
  chars: number;
  texts: string[];
  /** Events at the start of `texts` that are no longer kept. */
  gone: number;
}

interface Owner {
  readonly name: string;
  chars: number;
  /** In the order in which they were last written. */
  readonly streams: Map<string, Kept>;
}

/** Characters that `memoryEvents` keeps. Beyond it the oldest events go, so no fault has these names. */
export const eventChars = {
  /** Of one stream: 4 Mi. */
  chars: 4_194_304,
  /** Of all streams together: 64 Mi. */
  totalChars: 67_108_864,
  /** Of one owner, as a part of `totalChars`. */
  ownerShare: 0.25,
} as const;
/** What an event counts in addition to its text. */
const EVENT_CHARS = 64;

/** An event store in memory: ordered by stream, and bounded. */
export function memoryEvents(options: MemoryEventsOptions = {}): EventStore {
  const { items = optionLimits.events, chars = eventChars.chars, totalChars = eventChars.totalChars } = options;
  const { ownerChars = totalChars * eventChars.ownerShare } = options;
  const streams = new Map<string, Kept>();
  const owners = new Map<string, Owner>();
  let total = 0;

  const add = (kept: Kept, more: number): void => {
    kept.chars += more;
    kept.owner.chars += more;
    total += more;
  };
  const trim = (kept: Kept): void => {
    const text = kept.texts[kept.gone] ?? "";
    kept.texts[kept.gone++] = "";
    kept.first++;
    add(kept, -text.length - EVENT_CHARS);
    if (kept.gone < 1024 || kept.gone < kept.texts.length / 2) return;
    kept.texts = kept.texts.slice(kept.gone);
    kept.gone = 0;
  };
  const length = ({ texts, gone }: Kept): number => texts.length - gone;
  const begin = (stream: string, name: string): Kept => {
    const owner = owners.get(name) ?? { name, chars: 0, streams: new Map<string, Kept>() };
    owners.set(name, owner);
    const kept: Kept = { owner, first: 0, chars: 0, texts: [], gone: 0 };
    streams.set(stream, kept);
    return kept;
  };
  /** Drops an owner's events, those of its quietest stream first, until there is room. The last event of `spared` stays. */
  const shrink = (owner: Owner, spared: Kept, isEnough: () => boolean): void => {
    for (const kept of owner.streams.values()) {
      while (length(kept) > (kept === spared ? 1 : 0) && !isEnough()) trim(kept);
      if (isEnough()) return;
    }
  };
  const largest = (): Owner => [...owners.values()].reduce((most, owner) => (owner.chars > most.chars ? owner : most));

  return {
    append(stream, text, name = "") {
      const kept = streams.get(stream) ?? begin(stream, name);
      const { owner } = kept;
      owner.streams.delete(stream);
      owner.streams.set(stream, kept);
      kept.texts.push(text);
      add(kept, text.length + EVENT_CHARS);
      while (length(kept) > 1 && (length(kept) > items || kept.chars > chars)) trim(kept);
      if (owner.chars > ownerChars) shrink(owner, kept, () => owner.chars <= ownerChars);
      if (total > totalChars) shrink(largest(), kept, () => total <= totalChars);
      return `${stream}_${kept.first + length(kept) - 1}`;
    },
    after(id) {
      const { stream, number } = parseEventId(id) ?? { stream: "", number: 0 };
      const kept = streams.get(stream);
      if (kept === undefined) return number === -1 ? { stream, events: [] } : undefined;
      if (number < kept.first - 1 || number >= kept.first + length(kept)) return undefined;
      const from = number + 1 - kept.first + kept.gone;
      return { stream, events: kept.texts.slice(from).map((text, at) => ({ id: `${stream}_${number + 1 + at}`, text })) };
    },
    drop(stream) {
      const kept = streams.get(stream);
      if (kept === undefined) return;
      add(kept, -kept.chars);
      streams.delete(stream);
      kept.owner.streams.delete(stream);
      if (kept.owner.streams.size === 0) owners.delete(kept.owner.name);
    },
  };
}

/** The parts of an event's id; -1 is the place before the first event. */
export function parseEventId(id: string): { readonly stream: string; readonly number: number } | undefined {
  const [, stream, number] = /^(.+)_(-1|0|[1-9]\d{0,14})$/s.exec(id) ?? [];
  return stream === undefined ? undefined : { stream, number: Number(number) };
}
