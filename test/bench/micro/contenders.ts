import type { InputEvent } from '../../../shared/events/event.ts';
import { check } from '../../../shared/language/checker/check.ts';
import { SourceText } from '../../../shared/language/diagnostics/diagnostic.ts';
import type { Plan } from '../../../shared/language/plan/plan.ts';
import { createEngine } from '../../../worker/engine/create-engine.ts';
import type { Engine } from '../../../worker/engine/engine.ts';
import type { EventEntries, EventEntry } from '../../../worker/engine/fusion/event-entry.ts';
import { plain, shipped } from '../../reference/ways.ts';
import type { OutputTotals } from '../processes/output-totals.ts';
import { type Block, type Feed, feedOf, type Taker } from './block.ts';
import { inputEvent, type MicroCase, type MicroType } from './case.ts';

/** Who takes the events of a case: the work by hand, or the engine by its three doors. */
export const MODES = ['bound', 'push', 'enter', 'reference'] as const;
export type Mode = (typeof MODES)[number];

/** Prepares a block for being fed; null when the program has no such door. */
export interface Contender {
  /** Called before each block, outside of what is measured. */
  readonly prepare: (block: Block) => void;
  readonly feed: Feed;
}

export function contender(mode: Mode, micro: MicroCase, totals: OutputTotals): Contender | null {
  if (mode === 'bound') return boundContender(micro, totals);
  const engine = engineOf(micro, mode === 'reference' ? 'reference' : 'compiled', totals);
  return mode === 'enter' ? entryContender(micro, engine) : pushContender(micro, engine);
}

/** @throws Error when the program is wrong */
export function planOf(text: string): Plan {
  const { plan, diagnostics } = check(new SourceText('case.vpl', text));
  if (plan === null) throw new Error(diagnostics.map(({ message }) => message).join('; '));
  return plan;
}

export function engineOf({ program, checked }: MicroCase, backend: 'compiled' | 'reference', totals: OutputTotals): Engine {
  const output = (event: { readonly fields: ReadonlyMap<string, unknown> }): void =>
    totals.take(event, event.fields.get(checked) as number);
  return createEngine(planOf(program), { output }, backend === 'compiled' ? shipped : plain);
}

function boundContender({ bound, types }: MicroCase, totals: OutputTotals): Contender {
  const takes = bound((output, checked) => totals.take(output, checked));
  const takers = types.map(({ fields }, type): Taker => ({ take: takes[type] as Taker['take'], columns: columnsOf(fields) }));
  return { prepare: () => undefined, feed: feedOf(takers) };
}

/** By events made before. */
export function pushContender(micro: MicroCase, engine: Engine): Contender {
  let events: InputEvent[] = [];
  return {
    prepare: (block) => {
      events = Array.from(block.times, (time, i) =>
        inputEvent(micro, {
          type: block.types[i] as number,
          time,
          first: block.firsts[i] as string | number,
          second: block.seconds[i] as number,
        }),
      );
    },
    feed: (_, from, to) => {
      for (let i = from; i < to; i++) engine.push(events[i] as InputEvent);
    },
  };
}

/** By scalars; null when the engine of another checkout, or this program, has no such entries. */
function entryContender({ types }: MicroCase, engine: Engine): Contender | null {
  const entries = (engine as { readonly entries?: EventEntries }).entries;
  const found = types.map(({ name }) => entries?.entries.find(({ type }) => type === name));
  if (entries === undefined || found.some((entry) => entry === undefined)) return null;
  entries.source = () => {
    throw new Error('a case asks for the whole event');
  };
  return { prepare: () => undefined, feed: feedOf(types.map((type, index) => takerOf(type, found[index] as EventEntry))) };
}

function takerOf({ fields }: MicroType, entry: EventEntry): Taker {
  const read = entry.fields.filter(({ isRead }) => isRead).map(({ name }) => name);
  return { take: entry.enter, constants: [false], columns: columnsOf(fields, read) };
}

function columnsOf(fields: readonly string[], read = fields): Taker['columns'] {
  return (['firsts', 'seconds'] as const).filter((_, index) => read.includes(fields[index] ?? ''));
}
