import { isStored, pairsPerTotal, ticksPerCount } from './programs.ts';
import type { StoryEvent } from './story.ts';

/** An output without its id and time: what it says. */
export interface Said {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** What pipelines must say of what one producer has sent, all of it taken once and in this order: the definition, without any cleverness. */
export function expected(producer: string, sent: readonly StoryEvent[]): readonly Said[] {
  const opens = byNumber(numbersOf(sent, 'Open'));
  const pairs = numbersOf(sent, 'Close').filter(({ number, at }) => opens.get(number)?.some((open) => open.at < at));
  const ticks = numbersOf(sent, 'Tick');
  const rights = byNumber(numbersOf(sent, 'Right'));
  const joins = numbersOf(sent, 'Left').flatMap(({ number }) => rights.get(number) ?? []);
  return [
    ...pairs.map(({ number }) => ({ type: 'Paired', data: { producer, number } })),
    ...(isStored(producer) ? [] : windows(producer, 'Total', pairs, pairsPerTotal)),
    ...windows(producer, 'Counted', ticks, ticksPerCount),
    ...joins.map(({ number }) => ({ type: 'Joined', data: { producer, number } })),
  ];
}

interface Numbered {
  readonly number: number;
  /** Where it stands among all that was sent. */
  readonly at: number;
}

function numbersOf(sent: readonly StoryEvent[], type: StoryEvent['event_type']): readonly Numbered[] {
  return sent.flatMap(({ event_type, fields }, at) => (event_type === type ? [{ number: fields.number, at }] : []));
}

/** An hour sends a hundred thousand events: going through all of them for each would take longer than the outputs. */
function byNumber(events: readonly Numbered[]): ReadonlyMap<number, readonly Numbered[]> {
  const found = new Map<number, Numbered[]>();
  for (const one of events) {
    const same = found.get(one.number);
    if (same) same.push(one);
    else found.set(one.number, [one]);
  }
  return found;
}

/** Complete windows of so many each. */
function windows(producer: string, type: string, events: readonly Numbered[], size: number): readonly Said[] {
  return Array.from({ length: Math.floor(events.length / size) }, (_, at) => {
    const numbers = events.slice(at * size, (at + 1) * size).map(({ number }) => number);
    const sum = numbers.reduce((total, number) => total + number, 0);
    return { type, data: { producer, events: size, first: Math.min(...numbers), last: Math.max(...numbers), sum } };
  });
}

/** The same text for outputs that say the same. */
export function textOf({ type, data }: Said): string {
  const members = Object.entries(data).sort(([a], [b]) => (a < b ? -1 : 1));
  return `${type} ${JSON.stringify(Object.fromEntries(members))}`;
}
