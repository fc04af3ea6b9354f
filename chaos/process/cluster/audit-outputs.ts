import { expected, textOf } from './expected.ts';
import type { Outcome } from './pinger.ts';
import type { Delivery } from './sink.ts';
import type { StoryEvent } from './story.ts';

export interface OutputRecord {
  readonly deliveries: readonly Delivery[];
  /** What each producer has sent and was acknowledged, in its order. */
  readonly sent: ReadonlyMap<string, readonly StoryEvent[]>;
  readonly pings: readonly Outcome[];
}

export interface OutputReport {
  readonly events: number;
  /** Outputs that there must be. */
  readonly expected: number;
  /** Said under no id. */
  readonly lost: readonly string[];
  /** Said under more than one id: whoever receives it cannot tell that it is the same. */
  readonly doubled: readonly string[];
  /** Ids under which different things were said: whoever looks at ids alone drops one of them. */
  readonly collided: readonly string[];
  /** Said, and nothing that was taken leads to it. */
  readonly invented: readonly string[];
  /** Said first after something that comes after it. */
  readonly disordered: readonly string[];
  /** Deliveries under an id that was delivered before. */
  readonly repeats: number;
}

/** Compares what came out with what the definition makes of what was taken. */
export function auditOutputs({ deliveries, sent, pings }: OutputRecord): OutputReport {
  const ids = new Map<string, Set<string>>();
  const texts = new Map<string, Set<string>>();
  for (const { id, text } of deliveries) {
    ids.set(text, (ids.get(text) ?? new Set()).add(id));
    texts.set(id, (texts.get(id) ?? new Set()).add(text));
  }
  const lists = [...sent].map(([producer, events]) => expected(producer, events).map(textOf));
  const must = new Set([...lists.flat(), ...pingTexts(pings, (outcome) => outcome === 'taken')]);
  const may = new Set([...must, ...pingTexts(pings, (outcome) => outcome === 'unknown')]);
  return {
    events: [...sent.values()].reduce((sum, events) => sum + events.length, pings.filter((outcome) => outcome === 'taken').length),
    expected: must.size,
    lost: [...must].filter((text) => !ids.has(text)),
    doubled: severalOf(ids),
    collided: severalOf(texts),
    invented: [...ids.keys()].filter((text) => !may.has(text)),
    disordered: disordered(deliveries, lists),
    repeats: deliveries.length - new Set(deliveries.map(({ id }) => id)).size,
  };
}

function severalOf(found: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  return [...found].flatMap(([one, others]) => (others.size > 1 ? [`${one}: ${[...others].join(' and ')}`] : []));
}

function pingTexts(pings: readonly Outcome[], isMeant: (outcome: Outcome) => boolean): string[] {
  return pings.flatMap((outcome, number) => (isMeant(outcome) ? [textOf({ type: 'Ponged', data: { number } })] : []));
}

/** Outputs of one type for one producer come out of one pipeline, in the order of their causes. */
function disordered(deliveries: readonly Delivery[], lists: readonly (readonly string[])[]): string[] {
  const firstAt = new Map<string, number>();
  for (const [at, { text }] of deliveries.entries()) if (!firstAt.has(text)) firstAt.set(text, at);
  const found: string[] = [];
  for (const list of lists) {
    const last = new Map<string, number>();
    for (const text of list) {
      const [type = ''] = text.split(' ');
      const at = firstAt.get(text);
      if (at === undefined) continue;
      if (at < (last.get(type) ?? -1)) found.push(text);
      last.set(type, Math.max(at, last.get(type) ?? -1));
    }
  }
  return found;
}

export function isExact({ lost, doubled, collided, invented, disordered }: OutputReport): boolean {
  return lost.length + doubled.length + collided.length + invented.length + disordered.length === 0;
}
