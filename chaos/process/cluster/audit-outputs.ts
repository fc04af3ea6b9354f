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
  /** Windows of time that were closed twice, with another content. */
  readonly contradicted: readonly string[];
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
  const beats = new Set([...sent.values()].flat().flatMap((one) => (one.event_type === 'Beat' ? [keyOf(one.fields)] : [])));
  const must = new Set([...lists.flat(), ...pingTexts(pings, (outcome) => outcome === 'taken')]);
  const may = new Set([...must, ...pingTexts(pings, (outcome) => outcome === 'unknown')]);
  return {
    events: [...sent.values()].reduce((sum, events) => sum + events.length, pings.filter((outcome) => outcome === 'taken').length),
    expected: must.size,
    lost: [...must].filter((text) => !ids.has(text)),
    doubled: severalOf(ids),
    collided: severalOf(texts),
    invented: [...ids.keys()].filter((text) => !may.has(text) && !isWindowOf(beats, text)),
    contradicted: contradicted([...ids.keys()]),
    disordered: disordered(deliveries, lists),
    repeats: deliveries.length - new Set(deliveries.map(({ id }) => id)).size,
  };
}

/** When the clock closes a window, and so what comes late for it, is chance; what it holds must have been sent, and it closes once. */
function isWindowOf(beats: ReadonlySet<string>, text: string): boolean {
  const window = windowIn(text);
  return window?.numbers.every((number) => beats.has(keyOf({ order: window.order, number }))) ?? false;
}

function contradicted(texts: readonly string[]): string[] {
  const windows = new Map<string, Set<string>>();
  for (const text of texts) {
    const window = windowIn(text);
    if (window) windows.set(window.order, (windows.get(window.order) ?? new Set()).add(text));
  }
  return severalOf(windows);
}

function windowIn(text: string): { readonly order: string; readonly numbers: readonly number[] } | undefined {
  return text.startsWith('Beaten ') ? JSON.parse(text.slice('Beaten '.length)) : undefined;
}

function keyOf({ order, number }: { readonly order: string; readonly number: number }): string {
  return `${order} ${number}`;
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

export function isExact({ lost, doubled, collided, invented, contradicted, disordered }: OutputReport): boolean {
  return [lost, doubled, collided, invented, contradicted, disordered].every(({ length }) => length === 0);
}
