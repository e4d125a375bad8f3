/** Keeps the events of legacy streams, so that a client that lost its connection can go on where it was. */
export interface EventStore {
  /** Keeps an event and names it: the stream, an underscore, and a number that rises by one from 0. */
  append(stream: string, text: string): string | Promise<string>;
  /** The events after the named one, of its stream; undefined if that place is not kept any more. */
  after(id: string): Replay | undefined | Promise<Replay | undefined>;
  /** The stream has ended and nobody may come back to it. */
  drop(stream: string): void;
}

export interface Replay {
  readonly stream: string;
  readonly events: readonly { readonly id: string; readonly text: string }[];
}

export interface MemoryEventsOptions {
  /** Events kept of one stream; 10,000 unless given. */
  readonly items?: number;
  /** Characters kept of one stream, 4 Mi unless given; its last event is kept in any case. */
  readonly chars?: number;
  /** Characters kept of all streams together, 64 Mi unless given; the stream that was quiet for longest gives way. */
  readonly totalChars?: number;
}

interface Kept {
  readonly name: string;
  /** The number of the oldest event that is kept. */
  first: number;
  chars: number;
  texts: string[];
  /** Events at the start of `texts` that are not kept any more. */
  gone: number;
}

/** The event store in memory: per stream, in order, bounded. */
export function memoryEvents(options: MemoryEventsOptions = {}): EventStore {
  const { items = 10_000, chars = 4 * 1024 * 1024, totalChars = 64 * 1024 * 1024 } = options;
  // In the order in which they were last written to.
  const streams = new Map<string, Kept>();
  let total = 0;

  const trim = (kept: Kept): void => {
    const text = kept.texts[kept.gone] as string;
    kept.texts[kept.gone++] = "";
    kept.first++;
    kept.chars -= text.length;
    total -= text.length;
    if (kept.gone < 1024 || kept.gone < kept.texts.length / 2) return;
    kept.texts = kept.texts.slice(kept.gone);
    kept.gone = 0;
  };
  const length = ({ texts, gone }: Kept): number => texts.length - gone;

  return {
    append(stream, text) {
      const kept = streams.get(stream) ?? { name: stream, first: 0, chars: 0, texts: [], gone: 0 };
      streams.delete(stream);
      streams.set(stream, kept);
      kept.texts.push(text);
      kept.chars += text.length;
      total += text.length;
      while (length(kept) > 1 && (length(kept) > items || kept.chars > chars)) trim(kept);
      for (const quiet of total > totalChars ? streams.values() : []) {
        while (length(quiet) > (quiet === kept ? 1 : 0) && total > totalChars) trim(quiet);
        if (total <= totalChars) break;
      }
      return `${stream}_${kept.first + length(kept) - 1}`;
    },
    after(id) {
      const { stream, number } = place(id) ?? { stream: "", number: 0 };
      const kept = streams.get(stream);
      if (kept === undefined) return number === -1 ? { stream, events: [] } : undefined;
      if (number < kept.first - 1 || number >= kept.first + length(kept)) return undefined;
      const from = number + 1 - kept.first + kept.gone;
      return { stream, events: kept.texts.slice(from).map((text, at) => ({ id: `${stream}_${number + 1 + at}`, text })) };
    },
    drop(stream) {
      total -= streams.get(stream)?.chars ?? 0;
      streams.delete(stream);
    },
  };
}

/** The parts of an event's name; -1 is the place before the first event. */
export function place(id: string): { readonly stream: string; readonly number: number } | undefined {
  const [, stream, number] = /^(.+)_(-1|0|[1-9]\d{0,14})$/s.exec(id) ?? [];
  return stream === undefined ? undefined : { stream, number: Number(number) };
}
