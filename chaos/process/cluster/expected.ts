import { isStored, pairsPerTotal, ticksPerCount } from './programs.ts';
import type { StoryEvent } from './story.ts';

/** An output without its id and time: what it says. */
export interface Said {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** What pipelines must say of what one producer has sent, all of it taken once and in this order: the definition, without any cleverness. */
export function expected(producer: string, sent: readonly StoryEvent[]): readonly Said[] {
  const pairs = numbersOf(sent, 'Close').filter(({ number, at }) =>
    numbersOf(sent, 'Open').some((open) => open.number === number && open.at < at),
  );
  const ticks = numbersOf(sent, 'Tick');
  const rights = numbersOf(sent, 'Right');
  const joins = numbersOf(sent, 'Left').flatMap(({ number }) => rights.filter((right) => right.number === number));
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
