import { fingerprint } from '../../../../../shared/language/plan/fingerprint.ts';
import type { SourcePlan } from '../../../../../shared/language/plan/plan.ts';
import { isStatements } from '../../../operators/operator-facts.ts';
import { relevanceOf } from '../../../patterns/watch.ts';
import type { KernelNode } from '../../../physical/physical-plan.ts';
import type { SourceOptions } from '../../../sources/source-options.ts';
import type { Columns } from '../../columns.ts';
import type { FusedRuntime, KernelFactory } from '../../fused-runtime.ts';
import { Body } from '../../module-text.ts';
import type { StreamPlace } from '../../place.ts';
import type { DecidedKernel, ProgramFusion } from '../../program-fusion.ts';
import type { FusedInlet } from '../../shared-functions.ts';
import { CannotFuse, Refusal } from '../../typed.ts';
import { type Given, PatternInput } from '../pattern-input.ts';
import { printClose } from './close-text.ts';
import { type Lane, type LanePart, LaneText, printFit, printRepeat, printStep } from './lane-text.ts';
import { type SharingStream, sharingOf } from './sharing.ts';
import type { TrendForm } from './trend-form.ts';
import { TrendKernel } from './trend-kernel.ts';
import type { TrendKernelForm } from './trend-kernel-form.ts';
import type { SharedForm } from './trend-panes.ts';

/** What stands for the trends of streams that share, in the text. */
interface Printed extends DecidedKernel {
  /** Name of the panes. */
  readonly panes: string;
  readonly lanes: readonly Lane[];
  /** By lane: names of the functions that take events. */
  readonly takes: readonly string[];
}

/** Trends at the head of a stream: the events of a type are taken by one function for all streams with the same windows. */
export function fuseTrends(fusion: StreamPlace, origin: string, columns: Columns): readonly FusedInlet[] | Refusal {
  const { program, plan } = fusion;
  const streams = sharingOf(plan, program);
  const leader = sourceOf(streams[0] as SharingStream);
  const decided = program.kernel(leader, () => printAll(streams, fusion));
  if (decided instanceof Refusal) return decided;
  const { panes, lanes, takes } = decided;
  const lane = lanes.find(({ input }) => input.origin === origin);
  if (lane === undefined) throw new CannotFuse('no step takes these events');
  const [first] = lane.parts as [LanePart];
  if (streams[first.position]?.index !== fusion.index) return [];
  const inlet = fusion.inlet(
    origin,
    columns,
    (passed, body) => {
      body.note(() => {
        for (const { form } of streams) program.useKernel(form.stream.source);
      });
      body.add(`${panes}.counts[${lane.at}]++;`);
      body.add(`${takes[lane.at]}(${lane.input.argumentsOf(passed).join(',')});`);
      return null;
    },
    { isCounted: false },
  );
  return inlet instanceof Refusal ? inlet : [inlet];
}

function sourceOf({ form }: SharingStream): SourcePlan {
  return form.stream.source;
}

/** Prints all streams that share; gives the kernel of the first. */
function printAll(streams: readonly SharingStream[], fusion: StreamPlace): Printed {
  const { program } = fusion;
  const { module } = program;
  const leader = sourceOf(streams[0] as SharingStream);
  const panesOf = (runtime: FusedRuntime): TrendKernel['panes'] | undefined => (runtime.kernel(leader) as TrendKernel | undefined)?.panes;
  const panes = module.late((runtime) => {
    const found = panesOf(runtime);
    found?.count(runtime);
    return found;
  });
  const table = module.late((runtime) => panesOf(runtime)?.table);
  const lanes = lanesOf(streams, fusion);
  const shared = sharedForm(streams, lanes);
  const text = new LaneText(program, panes, table);
  const takes = lanes.map((lane) => text.print(lane));
  const equals = equalsAmong(streams, lanes);
  const kernels = streams.map((stream, position) => printKernel(stream, position, { shared, lanes, panes, equals, fusion }));
  kernels.slice(1).forEach((kernel, at) => void program.kernel(sourceOf(streams[at + 1] as SharingStream), () => kernel));
  const [first] = kernels as [DecidedKernel];
  return { ...first, links: [...first.links, ...takes], panes, lanes, takes };
}

function lanesOf(streams: readonly SharingStream[], fusion: StreamPlace): readonly Lane[] {
  const { program } = fusion;
  const origins = [...new Set(streams.flatMap(({ form }) => form.origins))];
  let classes = 0;
  return origins.map((origin, at) => {
    const readers = streams.flatMap((stream, position) => (stream.form.origins.includes(origin) ? [{ stream, position }] : []));
    const first = (readers[0] as (typeof readers)[number]).stream;
    const input = new PatternInput(first.form.pattern, origin, program.declared(origin.slice('event:'.length)), program.module);
    const parts = readers.map(({ stream, position }) => partOf(stream, position, origin, fusion));
    const byFit = new Map<string, LanePart[]>();
    for (const part of parts.filter(isCountable)) {
      const fit = printFit(part, part.slots[0] as number, input, new Body(program.module.names), program.module);
      byFit.set(fit, [...(byFit.get(fit) ?? []), part]);
    }
    const bursts = [...byFit.values()].map((members) => ({
      at: classes++,
      parts: members,
      burst: {
        lane: at,
        streams: members.map(({ position }) => position),
        opening: members.filter(({ isOpening }) => isOpening).map(({ position }) => position),
      },
    }));
    return { at, input, parts, classes: bursts, single: parts.filter((part) => !isCountable(part)) };
  });
}

/** The events do one thing to the stream's trends, and nothing is read of them. */
function isCountable({ form, slots, isRead }: LanePart): boolean {
  return slots.length === 1 && form.pattern.steps[slots[0] as number]?.negated === false && !isRead;
}

function partOf({ form, index }: SharingStream, position: number, origin: string, fusion: StreamPlace): LanePart {
  const { program } = fusion;
  const watches = relevanceOf(form.pattern, origin)?.watches ?? [];
  const source = form.stream.source;
  return {
    form,
    position,
    slots: watches,
    isOpening: form.states.initial.some(({ slot }) => watches.includes(slot)),
    isRead:
      form.columns.some(({ slot, argument }) => argument !== null && watches.includes(slot)) ||
      (form.held ?? []).some(({ slot }) => watches.includes(slot)),
    kernel: program.once(`trends:${index}`, () => program.module.late((runtime) => runtime.kernel(source))),
    node: fusion.sibling(index).node,
  };
}

function sharedForm(streams: readonly SharingStream[], lanes: readonly Lane[]): SharedForm {
  const [{ form }] = streams as [SharingStream];
  return {
    streams: streams.map(({ index }) => index),
    lanes: lanes.map(({ input, parts }) => ({
      origin: input.origin,
      type: input.type,
      streams: parts.map(({ position }) => position),
      isOpening: parts.some(({ isOpening }) => isOpening),
    })),
    classes: lanes.flatMap(({ classes }) => classes.map(({ burst }) => burst)),
    windowMs: form.plan.windowMs,
    allowedLatenessMs: form.stream.time.allowedLatenessMs,
    isKeyed: form.stream.partition.keys.length > 0,
  };
}

/** By position: those of the streams that count the same trends, of events that are all counted alone. */
function equalsAmong(streams: readonly SharingStream[], lanes: readonly Lane[]): readonly (readonly number[])[] {
  const keys = streams.map(({ form: { pattern, plan, held } }, position) => {
    const isAlone = held !== null || lanes.some(({ single }) => single.some((part) => part.position === position));
    const classes = lanes.flatMap((lane) => lane.classes.filter(({ burst }) => burst.streams.includes(position)).map(({ at }) => at));
    return isAlone ? `alone ${position}` : fingerprint([pattern.fingerprint, pattern.runsMax, plan.fingerprint, classes]);
  });
  const positions = new Map<string, number[]>();
  keys.forEach((key, position) => void positions.set(key, [...(positions.get(key) ?? []), position]));
  return keys.map((key) => positions.get(key) as number[]);
}

interface Sharing {
  readonly shared: SharedForm;
  readonly lanes: readonly Lane[];
  readonly panes: string;
  /** By position: those of the streams that count the same trends. */
  readonly equals: readonly (readonly number[])[];
  readonly fusion: StreamPlace;
}

function printKernel({ form, index }: SharingStream, position: number, { shared, lanes, panes, equals, fusion }: Sharing): DecidedKernel {
  const { program } = fusion;
  const own = lanes.flatMap((lane) => lane.parts.filter((part) => part.position === position).map((part) => ({ lane, part })));
  const bursts = lanes.flatMap(({ classes }) => classes.filter(({ burst }) => burst.streams.includes(position)));
  const classes = bursts.map(({ at, parts }) => ({ at, slot: parts.find((part) => part.position === position)?.slots[0] as number }));
  const { kernel } = (own[0] as (typeof own)[number]).part;
  const close = printClose(form, kernel, fusion.sibling(index));
  const steps = classes.flatMap(({ slot }) => [
    printStep(program, form, [{ slot, text: 'true' }], { values: new Map(), valueParameters: [], slots: [slot] }),
    printRepeat(program, form, slot),
  ]);
  const kernelForm: TrendKernelForm = {
    trends: form,
    shared,
    position,
    lanes: own.map(({ lane }) => lane.at),
    classes,
    given: new Map<number, readonly Given[]>(
      own.filter(({ lane }) => lane.parts[0]?.position === position).map(({ lane }) => [lane.at, lane.input.given]),
    ),
    keyFields: form.stream.partition.keys.map(({ value }) => (value.kind === 'field' ? value.name : '')),
    equals: equals[position] as readonly number[],
    endsMatter: !form.stream.operators.slice(1).every(isStatements),
  };
  const create: KernelFactory = (_: SourcePlan, options: SourceOptions) => new TrendKernel(kernelForm, options);
  const node = nodeOf(form, program, shared);
  return { create, links: [panes, close ?? 'null', ...steps], node };
}

function nodeOf({ stream, plan, columns }: TrendForm, { plan: { streams } }: ProgramFusion, shared: SharedForm): KernelNode {
  const names = shared.streams.map((index) => streams[index]?.name ?? '').filter((name) => name !== stream.name);
  const keeps = [...new Set(plan.calls.map((call) => call.function))];
  const keys = stream.partition.keys.map(({ name }) => name);
  return { name: `trends, ${columns.length} columns for each state`, keys, keeps, sharedWith: names };
}
