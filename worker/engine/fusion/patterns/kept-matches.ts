import { keyOf } from '../../../../shared/events/text.ts';
import type { Value } from '../../../../shared/events/value.ts';
import type { Row } from '../../operators/row.ts';
import { Capture, type Captures, lastCapture } from '../../patterns/captures.ts';
import type { PartialMatch } from '../../patterns/run.ts';
import { DamagedState } from '../../state/codec.ts';
import type { FusedRun, RunIndexKey } from './fused-run.ts';
import { asGiven, asValue, type Column, type Past } from './history.ts';
import type { KernelForm } from './kernel-form.ts';
import type { Kept } from './run-form.ts';
import { type SavedTogether, savedTogether, type TakenTogether } from './taken-together.ts';

/** The generated class of a pattern's runs. */
export type RunClass = new (
  state: number,
  indexKey: RunIndexKey,
  key: FusedRun['key'],
  began: number,
  first: number,
  last: number,
  ...kept: unknown[]
) => FusedRun;

/** An open run as it is saved and shown: its events with what is kept of them. `together`: by slot, what other runs hold as well. */
export function partialMatchOf(run: FusedRun, form: KernelForm, together: ReadonlyMap<number, TakenTogether> = new Map()): PartialMatch {
  const { states, waits, completion } = form.automaton;
  const state = (states[run.state] as KernelForm['automaton']['initial']).pattern;
  const counts = form.plan.steps.map((_, slot) => countOf(run, slot, form));
  const captures = capturesOf(run, form, { counts, together });
  const { enumerated } = completion;
  const hasMatched = enumerated !== null && state.isComplete;
  return {
    key: keyText(run.key, form.key),
    began: run.began,
    firstTime: run.first,
    lastTime: run.last,
    serial: run.began,
    progress: { state, captures, base: run.base ?? run.first },
    accepted: waits && state.isComplete ? captures : null,
    emittedElements: hasMatched ? (counts[enumerated.firstSlot] as number) : 0,
    hasMatched,
  };
}

/** Whether the time of the last event of a step is that of the event, and not that of the first one of the run. */
export function hasTimeOf({ began, progress: { captures } }: PartialMatch, slot: number, form: KernelForm): boolean {
  const { kept, hasBase } = form;
  const capture = captures[slot] ?? null;
  if (capture === null || capture.at === began || (hasBase && capture === lastCapture(captures))) return true;
  const columns = historyIn(slot, form) === undefined ? [] : form.historyOf(slot).columns;
  const ofLast = kept.filter((one) => one.slot === slot && !one.ofFirst);
  return [...ofLast, ...columns].some(({ aspect }) => aspect === 'row' || aspect === 'time');
}

/** The first and the last event have the times that the run keeps. Of events between them that are only counted the last one is told. */
function capturesOf(
  run: FusedRun,
  form: KernelForm,
  { counts, together }: { readonly counts: readonly number[]; readonly together: ReadonlyMap<number, TakenTogether> },
): Captures {
  const enumerated = form.automaton.completion.enumerated?.firstSlot ?? -1;
  const end = run.began + counts.reduce((sum, count) => sum + count, 0) - 1;
  const lastAt = run.lastAt ?? end;
  let began = run.began;
  return counts.map((count, slot) => {
    const { block, before } = together.get(slot) ?? { block: null, before: count };
    const past = pastOf(run, slot, { form, before });
    let top: Capture | null = null;
    for (let position = 0; position < count; position++) {
      const isKnown = past[position] !== undefined;
      // What is before the last event and not known by itself.
      const times = position > 0 && !isKnown ? Math.max(1, count - 1 - position) : 1;
      position += times - 1;
      const at = began + position;
      const after = count - 1 - position;
      const row = past[position] ?? block?.at(-1 - after) ?? rowOf(run, slot, position === 0, form);
      const time = at === run.began ? run.first : at === end ? (run.base ?? row.time) : row.time;
      const timed = row.time === time ? row : { ...row, time };
      const rowsIn = block !== null && times > 1 ? { block, end: block.length - 1 - after } : null;
      top = new Capture(timed, at === end ? lastAt : at, slot === enumerated ? position : -1, top, times, rowsIn);
    }
    began += count;
    return top;
  });
}

/** The first events of a closure, so many of them, where more is kept than of the first and the last one. */
function pastOf(run: FusedRun, slot: number, { form, before }: { readonly form: KernelForm; readonly before: number }): readonly Row[] {
  const kept = historyIn(slot, form);
  if (kept === undefined) return [];
  const past = keptIn(run, kept) as Past;
  return rowsOfPast(past?.slice(0, before * form.historyOf(slot).columns.length) ?? null, run, slot, form);
}

/** What is kept of every event of a closure. */
export function historyIn(slot: number, form: KernelForm): Kept | undefined {
  return form.kept.find((one) => one.slot === slot && one.aspect === 'history');
}

/** Events of a run's closure from its first one on. What is not kept of each is that of the first or of the last one. */
export function rowsOfPast(past: Past, run: FusedRun, slot: number, form: KernelForm): readonly Row[] {
  const [first, last] = [rowOf(run, slot, true, form), rowOf(run, slot, false, form)];
  return rowsWith((position) => (position === 0 ? first : last), past, slot, form);
}

/** The events that the runs of a list have taken together. What is not kept of each is that of the last one. */
export function rowsTakenTogether(past: Past, run: FusedRun, slot: number, form: KernelForm): readonly Row[] {
  const last = rowOf(run, slot, false, form);
  return rowsWith(() => last, past, slot, form);
}

function rowsWith(otherwise: (position: number) => Row, past: Past, slot: number, form: KernelForm): readonly Row[] {
  const history = form.historyOf(slot);
  const isTyped = history.columns.some(({ aspect }) => aspect === 'type');
  return history.rows(past, otherwise).map((row, position) => {
    const missing = [...otherwise(position).fields].filter(
      ([name]) => !row.fields.has(name) && isOf(isTyped ? row.type : undefined, name, slot, form),
    );
    return { ...row, fields: fieldsOf([...row.fields, ...missing], form.fieldNames[slot], row.type) };
  });
}

/** Whether events of the type, where it is kept, have the field. */
function isOf(type: string | undefined, name: string, slot: number, form: KernelForm): boolean {
  return type === undefined || (form.fieldNames[slot]?.get(type)?.includes(name) ?? true);
}

function countOf(run: FusedRun, slot: number, form: KernelForm): number {
  const count = form.kept.find((one) => one.slot === slot && one.aspect === 'count');
  if (count !== undefined) return keptIn(run, count) as number;
  return form.automaton.states[run.state]?.captured[slot] === true ? 1 : 0;
}

/** A value that a run keeps. */
export function keptIn(run: FusedRun, { property }: Kept): unknown {
  return (run as unknown as Record<string, unknown>)[property];
}

/** An event that a run has taken: what is kept of the last one of its step, or of the first. */
function rowOf(run: FusedRun, slot: number, isFirst: boolean, form: KernelForm): Row {
  const isList = form.automaton.isList[slot] === true;
  const kept = form.kept.filter(
    (one) => one.slot === slot && (!isList || !isFirst || one.ofFirst || !hasFirst(form, one)) && (isFirst || !one.ofFirst),
  );
  const found = (aspect: Kept['aspect']): unknown => {
    const one = kept.find((input) => input.aspect === aspect);
    return one === undefined ? undefined : keptIn(run, one);
  };
  const row = found('row') as Row | null | undefined;
  if (row) return row;
  const order = (found('order') as number | undefined) ?? run.began;
  const type = found('type') as string | undefined;
  const fields = kept.filter(({ aspect, name }) => aspect === 'field' && isOf(type, name, slot, form));
  return {
    type: type ?? form.plan.steps[slot]?.input.name ?? '',
    time: (found('time') as number | undefined) ?? run.first,
    order,
    fields: fieldsOf(
      fields.map((one) => [one.name, asValue(keptIn(run, one), one.as)]),
      form.fieldNames[slot],
      type,
    ),
    bound: null,
    attributes: null,
    causes: (found('causes') as readonly number[] | undefined) ?? [order],
  };
}

/** They are kept in the order in which the program needs them, and told in that of their event. */
function fieldsOf(
  fields: readonly (readonly [name: string, value: Value])[],
  namesByType: KernelForm['fieldNames'][number] | undefined,
  type: string | undefined,
): Row['fields'] {
  if (fields.length < 2) return new Map(fields);
  // Where the type is not kept, the step takes events of one type.
  const order = namesByType?.get(type ?? '') ?? namesByType?.values().next().value ?? [];
  return new Map([...fields].sort(([one], [other]) => order.indexOf(one) - order.indexOf(other)));
}

/** Whether the same is kept of the step's first event apart. */
function hasFirst(form: KernelForm, { slot, aspect, name }: Kept): boolean {
  return form.kept.some((one) => one.ofFirst && one.slot === slot && one.aspect === aspect && one.name === name);
}

/**
 * The run that was saved so, in no list yet. `together`: the last of its events that it does not keep itself, in the closure that the runs
 * of its state share.
 * @throws DamagedState
 */
export function runOf(
  { key, began, firstTime, lastTime, progress }: PartialMatch,
  form: KernelForm,
  RunClass: RunClass,
): { readonly run: FusedRun; readonly together: SavedTogether | null } {
  const { captures, base } = progress;
  const state = form.automaton.idOf(progress.state);
  if (state === undefined) throw new DamagedState(form.automaton.space.save(progress.state), 'a state that runs of the pattern come to');
  const slot = form.sharedSlots[state] ?? null;
  // Where events are only counted nothing of them is to be given back: whoever saved them may have kept more.
  const together = slot === null || historyIn(slot, form) === undefined ? null : savedTogether(captures, slot);
  const kept = form.kept.map((one) => {
    if (one.aspect === 'history' && one.slot === together?.slot) return pastIn(together.own, one.slot, form);
    return keptOf(one, captures[one.slot] ?? null, form);
  });
  const run = new RunClass(state, null, keyValue(key, form.key), began, firstTime, lastTime, ...kept);
  if (form.hasBase) run.base = base;
  if (form.hasLastAt) run.lastAt = lastCapture(captures)?.at ?? began;
  return { run, together };
}

function keptOf(kept: Kept, top: Capture | null, form: KernelForm): unknown {
  if (kept.aspect === 'count') return top?.length ?? 0;
  if (kept.aspect === 'history') return pastIn(top, kept.slot, form);
  return top === null ? null : columnOf(kept, kept.ofFirst ? top.oldest.row : top.row);
}

/** What is kept of each event of a closure. */
function pastIn(top: Capture | null, slot: number, form: KernelForm): Past {
  return top && pastOfRows(top.rows(), slot, form);
}

export function pastOfRows(rows: readonly Row[], slot: number, form: KernelForm): unknown[] {
  const { columns } = form.historyOf(slot);
  return rows.flatMap((row) => columns.map((column) => columnOf(column, row)));
}

function columnOf({ aspect, name, as }: Column, row: Row): unknown {
  if (aspect === 'count' || aspect === 'history') return null;
  if (aspect === 'row') return row;
  return aspect === 'field' ? asGiven(row.fields.get(name) ?? null, as) : row[aspect];
}

/** The canonical text of a partition's key. */
function keyText(key: FusedRun['key'], as: KernelForm['key']): string {
  if (as === null) return '';
  return as === 'text' ? (key as string) : keyOf([asValue(key, as)]);
}

function keyValue(text: string, as: KernelForm['key']): FusedRun['key'] {
  if (as === null || text === 'N') return null;
  if (as === 'text') return text;
  if (as === 'string') return text.slice(1);
  return as === 'boolean' ? text === 'T' : Number.parseFloat(text.slice(1));
}
