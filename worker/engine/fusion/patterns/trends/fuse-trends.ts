import { fingerprint } from '../../../../../shared/language/plan/fingerprint.ts';
import type { SourcePlan, StreamPlan } from '../../../../../shared/language/plan/plan.ts';
import type { RecordType } from '../../../../../shared/language/plan/types.ts';
import { isStatements } from '../../../operators/operator-facts.ts';
import type { TrendForm } from '../../../patterns/trends/trend-form.ts';
import { TrendKernel } from '../../../patterns/trends/trend-kernel.ts';
import type { SharedForm } from '../../../patterns/trends/trend-panes.ts';
import { relevanceOf } from '../../../patterns/watch.ts';
import type { KernelNode } from '../../../physical/physical-plan.ts';
import type { SourceOptions } from '../../../sources/source-options.ts';
import type { Columns } from '../../columns.ts';
import type { FusedRuntime } from '../../fused-runtime.ts';
import type { StreamContext } from '../../fusion-context.ts';
import type { DecidedKernel, ProgramFusion } from '../../program-fusion.ts';
import type { FusedInlet } from '../../shared-functions.ts';
import { Refusal } from '../../typed.ts';
import { PatternInput } from '../pattern-input.ts';
import { decideClose } from './close-text.ts';
import type { NumberedTrends } from './decide-trends.ts';
import { decideReads, type InputPart, InputText, printRepeat, printStep, type TrendInput } from './input-text.ts';

/** The trends of streams that share, as they were decided for the first that leads to them. */
interface DecidedTrends extends DecidedKernel {
  /** Name of the panes. */
  readonly panes: string;
  readonly inputs: readonly TrendInput[];
  /** By input: names of the functions that take events. */
  readonly takes: readonly string[];
}

/**
 * Trends at the head of a stream: the events of a type are taken by one function for all streams with the same windows. `sharing`: those
 * streams, in order of declaration.
 */
export function fuseTrends(
  sharing: readonly NumberedTrends[],
  fusion: StreamContext,
  origin: string,
  columns: Columns,
): readonly FusedInlet[] | Refusal {
  const { program } = fusion;
  const leader = sharing[0] as NumberedTrends;
  const decided = program.kernel(leader.stream.source, () => decideAll(sharing, fusion));
  if (decided instanceof Refusal) return decided;
  const { panes, inputs, takes } = decided;
  const input = inputs.find(({ event }) => event.origin === origin) as TrendInput;
  const [first] = input.parts as [InputPart];
  if (first.trends.index !== fusion.index) {
    // The first takes an event for all, or each takes its rows.
    const given = input.event.argumentsOf(columns);
    return given instanceof Refusal ? given : [];
  }
  const inlet = fusion.inlet(
    origin,
    columns,
    (passed, body) => {
      const given = input.event.argumentsOf(passed);
      if (given instanceof Refusal) return given;
      body.note(() => {
        for (const { stream } of sharing) program.useKernel(stream.source);
      });
      body.add(`${panes}.counts[${input.at}]++;`);
      body.add(`${takes[input.at]}(${given.join(',')});`);
      return null;
    },
    { isCounted: false },
  );
  return inlet instanceof Refusal ? inlet : [inlet];
}

/** Decides all streams that share; gives the kernel of the first. */
function decideAll(sharing: readonly NumberedTrends[], fusion: StreamContext): DecidedTrends {
  const { program } = fusion;
  const { module } = program;
  const leader = (sharing[0] as NumberedTrends).stream.source;
  const panesOf = (runtime: FusedRuntime): TrendKernel['panes'] | undefined => (runtime.kernel(leader) as TrendKernel | undefined)?.panes;
  const panes = module.late((runtime) => {
    const found = panesOf(runtime);
    found?.count(runtime);
    return found;
  });
  const table = module.late((runtime) => panesOf(runtime)?.table);
  const inputs = inputsOf(sharing, fusion);
  const shared = sharedForm(sharing, inputs);
  const text = new InputText(program, panes, table);
  const takes = inputs.map((input) => text.define(input));
  const equals = equalsAmong(sharing, inputs);
  const kernels = sharing.map((trends, position) => decideKernel(trends, position, { shared, inputs, panes, equals, fusion }));
  kernels.slice(1).forEach((kernel, at) => void program.kernel((sharing[at + 1] as NumberedTrends).stream.source, () => kernel));
  const [first] = kernels as [DecidedKernel];
  return { ...first, links: () => [...first.links(), ...takes], panes, inputs, takes };
}

function inputsOf(sharing: readonly NumberedTrends[], fusion: StreamContext): readonly TrendInput[] {
  const { program } = fusion;
  const origins = [...new Set(sharing.flatMap((trends) => trends.origins))];
  let classes = 0;
  return origins.map((origin, at) => {
    const parts = sharing.flatMap((trends, position) =>
      trends.origins.includes(origin) ? [partOf(trends, position, origin, fusion)] : [],
    );
    const record = program.declared(origin.slice('event:'.length)) as RecordType;
    const event = new PatternInput((parts[0] as InputPart).trends.pattern, origin, record, program.module);
    decideReads(parts, event, program.module);
    const byFit = new Map<string, InputPart[]>();
    for (const part of parts.filter(isCountable)) {
      const fit = fingerprint(part.trends.pattern.steps[part.slots[0] as number]?.where ?? null);
      byFit.set(fit, [...(byFit.get(fit) ?? []), part]);
    }
    const bursts = [...byFit.values()].map((members) => ({
      at: classes++,
      parts: members,
      burst: {
        input: at,
        streams: members.map(({ position }) => position),
        opening: members.filter(({ isOpening }) => isOpening).map(({ position }) => position),
      },
    }));
    return { at, event, parts, classes: bursts, single: parts.filter((part) => !isCountable(part)) };
  });
}

/** The events do one thing to the stream's trends, and nothing is read of them. */
function isCountable({ trends, slots, isRead }: InputPart): boolean {
  return slots.length === 1 && trends.pattern.steps[slots[0] as number]?.negated === false && !isRead;
}

function partOf(trends: NumberedTrends, position: number, origin: string, fusion: StreamContext): InputPart {
  const { program } = fusion;
  const { stream, pattern, numbers, columns, index, held } = trends;
  const slots = relevanceOf(pattern, origin)?.watches ?? [];
  return {
    trends,
    position,
    slots,
    isOpening: numbers.states.initial.some(({ slot }) => slots.includes(slot)),
    isRead: columns.all.some(({ slot, argument }) => argument !== null && slots.includes(slot)) || slots.some((slot) => held.has(slot)),
    kernel: program.once(`trends:${index}`, () => program.module.late((runtime) => runtime.kernel(stream.source))),
    node: fusion.sibling(index).node,
  };
}

function sharedForm(sharing: readonly NumberedTrends[], inputs: readonly TrendInput[]): SharedForm {
  const [{ plan, stream }] = sharing as [NumberedTrends];
  return {
    streams: sharing.map(({ index }) => index),
    inputs: inputs.map(({ event, parts }) => ({
      origin: event.origin,
      type: event.type,
      streams: parts.map(({ position }) => position),
      isOpening: parts.some(({ isOpening }) => isOpening),
    })),
    classes: inputs.flatMap(({ classes }) => classes.map(({ burst }) => burst)),
    windowMs: plan.windowMs,
    allowedLatenessMs: stream.time.allowedLatenessMs,
    isKeyed: stream.partition.keys.length > 0,
  };
}

/** By position: those of the streams that count the same trends, of events that are all counted alone. */
function equalsAmong(sharing: readonly NumberedTrends[], inputs: readonly TrendInput[]): readonly (readonly number[])[] {
  const keys = sharing.map(({ pattern, plan, held }, position) => {
    const isAlone = held.size > 0 || inputs.some(({ single }) => single.some((part) => part.position === position));
    const classes = inputs.flatMap((input) => input.classes.filter(({ burst }) => burst.streams.includes(position)).map(({ at }) => at));
    return isAlone ? `alone ${position}` : fingerprint([pattern.fingerprint, pattern.runsMax, plan.fingerprint, classes]);
  });
  const positions = new Map<string, number[]>();
  keys.forEach((key, position) => void positions.set(key, [...(positions.get(key) ?? []), position]));
  return keys.map((key) => positions.get(key) as number[]);
}

interface Sharing {
  readonly shared: SharedForm;
  readonly inputs: readonly TrendInput[];
  readonly panes: string;
  /** By position: those of the streams that count the same trends. */
  readonly equals: readonly (readonly number[])[];
  readonly fusion: StreamContext;
}

function decideKernel(trends: NumberedTrends, position: number, { shared, inputs, panes, equals, fusion }: Sharing): DecidedKernel {
  const { program } = fusion;
  const { stream, index } = trends;
  const own = inputs.flatMap((input) => input.parts.filter((part) => part.position === position).map((part) => ({ input, part })));
  const bursts = inputs.flatMap(({ classes }) => classes.filter(({ burst }) => burst.streams.includes(position)));
  const classes = bursts.map(({ at, parts }) => ({ at, slot: parts.find((part) => part.position === position)?.slots[0] as number }));
  const { kernel } = (own[0] as (typeof own)[number]).part;
  const close = decideClose(trends, kernel, fusion.sibling(index));
  const printSteps = ({ slot }: (typeof classes)[number]): readonly string[] => [
    printStep(program, trends, [{ slot, text: 'true' }], { values: new Map(), valueParameters: [], slots: [slot] }),
    printRepeat(program, trends, slot),
  ];
  const form: TrendForm = {
    ...trends,
    shared,
    position,
    inputs: own.map(({ input }) => input.at),
    relevances: [],
    classes,
    given: new Map(own.filter(({ input }) => input.parts[0]?.position === position).map(({ input }) => [input.at, input.event.given])),
    keyFields: stream.partition.keys.map(({ value }) => (value.kind === 'field' ? value.name : '')),
    equals: equals[position] as readonly number[],
    endsMatter: !stream.operators.slice(1).every(isStatements),
    heldFields: trends.held,
  };
  const create = (_: SourcePlan, options: SourceOptions): TrendKernel => new TrendKernel(form, options);
  return { create, links: () => [panes, close(), ...classes.flatMap(printSteps)], node: nodeOf(trends, program, shared) };
}

function nodeOf({ stream, plan, columns }: NumberedTrends, { plan: { streams } }: ProgramFusion, shared: SharedForm): KernelNode {
  const names = shared.streams.map((index) => (streams[index] as StreamPlan).name).filter((name) => name !== stream.name);
  const keeps = [...new Set(plan.calls.map((call) => call.function))];
  const keys = stream.partition.keys.map(({ name }) => name);
  return { name: `trends, ${columns.all.length} columns for each state`, keys, keeps, sharedWith: names };
}
