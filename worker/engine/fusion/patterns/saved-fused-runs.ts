import { invariant } from '../../../../shared/errors/error.ts';
import { keyOf } from '../../../../shared/events/text.ts';
import type { Value, ValueArray } from '../../../../shared/events/value.ts';
import type { Row } from '../../operators/row.ts';
import { loadRow, saveRow } from '../../state/saved-row.ts';
import type { FusedRun, RunIndexKey } from './fused-run.ts';
import { asGiven, asValue, type Column, type Past } from './history.ts';
import type { KernelForm } from './kernel-form.ts';
import type { Kept } from './run-form.ts';

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

/** The runs as `saveRuns` of the matcher saves them, their events with what is kept of them. */
export function saveFusedRuns(open: { readonly first: FusedRun | null }, form: KernelForm): Value {
  const rows: Value[] = [];
  const runs: Value[] = [];
  for (let run = open.first; run !== null; run = run.after) runs.push(saveRun(run, form, rows));
  return [rows, runs];
}

function saveRun(run: FusedRun, form: KernelForm, rows: Value[]): Value {
  const { space, states, waits, completion } = form.automaton;
  const state = states[run.state]?.pattern;
  invariant(state !== undefined, 'an open run stands in a state');
  const counts = form.plan.steps.map((_, slot) => countOf(run, slot, form));
  const captures = saveCaptures(run, form, counts, rows);
  const { enumerated } = completion;
  const hasMatched = enumerated !== null && state.isComplete;
  const emitted = hasMatched ? (counts[enumerated.firstSlot] as number) : 0;
  const accepted = waits && state.isComplete ? captures : null;
  const base = run.base ?? run.first;
  return [keyText(run.key, form.key), [run.began, run.first, run.last], space.save(state), base, captures, accepted, emitted, hasMatched];
}

/** By slot, three numbers for each capture: row, position, element. The first and the last have the times that the run keeps. */
function saveCaptures(run: FusedRun, form: KernelForm, counts: readonly number[], rows: Value[]): readonly (readonly number[])[] {
  const enumerated = form.automaton.completion.enumerated?.firstSlot ?? -1;
  const end = run.began + counts.reduce((sum, count) => sum + count, 0) - 1;
  const lastAt = run.lastAt ?? end;
  let at = run.began;
  return counts.map((count, slot) => {
    const numbers: number[] = [];
    const past = pastOf(run, slot, form);
    for (let position = 0; position < count; position++, at++) {
      const row = past[position] ?? rowOf(run, slot, position === 0, form);
      const time = at === run.began ? run.first : at === end ? (run.base ?? row.time) : row.time;
      rows.push(saveRow({ ...row, time }));
      numbers.push(rows.length - 1, at === end ? lastAt : at, slot === enumerated ? position : -1);
    }
    return numbers;
  });
}

/** The events of a closure of which more is kept than the first and the last. */
function pastOf(run: FusedRun, slot: number, form: KernelForm): readonly Row[] {
  const kept = form.kept.find((one) => one.slot === slot && one.aspect === 'history');
  if (kept === undefined) return [];
  const isTyped = form.historyOf(slot).columns.some(({ aspect }) => aspect === 'type');
  const ends = (position: number): Row => rowOf(run, slot, position === 0, form);
  const past = form.historyOf(slot).rows(keptIn(run, kept) as Past, ends);
  return past.map((row, position) => {
    const missing = [...ends(position).fields].filter(
      ([name]) => !row.fields.has(name) && isOf(isTyped ? row.type : undefined, name, slot, form),
    );
    return { ...row, fields: new Map([...row.fields, ...missing]) };
  });
}

/** Whether events of the type, where it is kept, have the field. */
function isOf(type: string | undefined, name: string, slot: number, form: KernelForm): boolean {
  return type === undefined || (form.fieldNames(slot).get(type)?.includes(name) ?? true);
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
    fields: new Map(fields.map((one) => [one.name, asValue(keptIn(run, one), one.as)])),
    bound: null,
    attributes: null,
    causes: (found('causes') as readonly number[] | undefined) ?? [order],
  };
}

/** Whether the same is kept of the step's first event apart. */
function hasFirst(form: KernelForm, { slot, aspect, name }: Kept): boolean {
  return form.kept.some((one) => one.ofFirst && one.slot === slot && one.aspect === aspect && one.name === name);
}

export function loadFusedRuns(saved: Value, form: KernelForm, RunClass: RunClass, add: (run: FusedRun) => void): void {
  const [savedRows, runs] = saved as ValueArray;
  const rows = (savedRows as ValueArray).map(loadRow);
  for (const one of runs as ValueArray) {
    const [key, beginning, savedState, base, captures] = one as ValueArray;
    const state = form.automaton.idOf(form.automaton.space.load(savedState as Value));
    invariant(state !== undefined, 'a saved run stands in a state of its pattern');
    const bySlot = (captures as ValueArray).map((slot) => rowsOf(slot as readonly number[], rows));
    const kept = form.kept.map((item) => keptOf(item, bySlot[item.slot] as readonly Row[], form));
    const [began, first, last] = beginning as [number, number, number];
    const run = new RunClass(state, null, keyValue(key as string, form.key), began, first, last, ...kept);
    if (form.hasBase) run.base = base as number;
    if (form.hasLastAt) run.lastAt = lastAtOf(captures as readonly (readonly number[])[]);
    add(run);
  }
}

/** Three numbers for each capture: row, position, element. */
function rowsOf(numbers: readonly number[], rows: readonly Row[]): readonly Row[] {
  return numbers.filter((_, index) => index % 3 === 0).map((row) => rows[row] as Row);
}

function lastAtOf(captures: readonly (readonly number[])[]): number {
  return Math.max(...captures.flatMap((numbers) => numbers.filter((_, index) => index % 3 === 1)));
}

function keptOf(kept: Kept, rows: readonly Row[], form: KernelForm): unknown {
  const row = kept.ofFirst ? rows[0] : rows.at(-1);
  if (kept.aspect === 'count') return rows.length;
  if (row === undefined) return null;
  if (kept.aspect !== 'history') return columnOf(kept, row);
  return rows.flatMap((one) => form.historyOf(kept.slot).columns.map((column) => columnOf(column, one)));
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
