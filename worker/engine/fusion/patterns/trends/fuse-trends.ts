import { fingerprint } from '../../../../../shared/language/plan/fingerprint.ts';
import type { OperatorPlan, SourcePlan } from '../../../../../shared/language/plan/plan.ts';
import { relevanceOf } from '../../../patterns/watch.ts';
import type { SourceOptions } from '../../../sources/registry.ts';
import type { Columns } from '../../columns.ts';
import type { FusedRuntime, KernelFactory } from '../../fused-runtime.ts';
import { Body } from '../../module-text.ts';
import type { ProgramFusion } from '../../program-fusion.ts';
import { type FusedInlet, StreamFusion } from '../../stream-fusion.ts';
import { CannotFuse } from '../../typed.ts';
import { Candidate, type Given } from '../candidate.ts';
import { printClose } from './close-text.ts';
import { type Lane, type LanePart, LaneText, printFit, printRepeat, printStep } from './lane-text.ts';
import { type SharingStream, sharingOf } from './sharing.ts';
import { TrendKernel } from './trend-kernel.ts';
import type { TrendKernelForm } from './trend-kernel-form.ts';
import type { SharedForm } from './trend-panes.ts';

/** What stands for the trends of streams that share, in the text. */
interface Printed {
  /** Name of the panes. */
  readonly panes: string;
  readonly lanes: readonly Lane[];
  /** By lane: names of the functions that take events. */
  readonly takes: readonly string[];
}

/** By source of the first stream that shares, as it was printed last. */
const printed = new WeakMap<SourcePlan, Printed>();

/** Trends at the head of a stream: the events of a type are taken by one function for all streams with the same windows. */
export function fuseTrends(fusion: StreamFusion, origin: string, columns: Columns): readonly FusedInlet[] {
  const { program, plan } = fusion;
  const streams = sharingOf(plan, program.plan);
  const leader = sourceOf(streams[0] as SharingStream);
  program.kernel(leader, () => printAll(streams, program));
  const { panes, lanes, takes } = printed.get(leader) as Printed;
  const lane = lanes.find(({ candidate }) => candidate.origin === origin);
  if (lane === undefined) throw new CannotFuse();
  const [first] = lane.parts as [LanePart];
  if (streams[first.position]?.index !== fusion.index) return [];
  const inlet = fusion.inlet(
    columns,
    (passed, body) => {
      body.add(`${panes}.counts[${lane.at}]++;`);
      body.add(`${takes[lane.at]}(${lane.candidate.argumentsOf(passed).join(',')});`);
    },
    { isCounted: false },
  );
  return [inlet];
}

function sourceOf({ form }: SharingStream): SourcePlan {
  return form.stream.source;
}

type PrintedKernel = ReturnType<Parameters<ProgramFusion['kernel']>[1]>;

/** Prints all streams that share; gives the kernel of the first. */
function printAll(streams: readonly SharingStream[], program: ProgramFusion): PrintedKernel {
  const { module } = program;
  const leader = sourceOf(streams[0] as SharingStream);
  const panesOf = (runtime: FusedRuntime): TrendKernel['panes'] | undefined => (runtime.kernel(leader) as TrendKernel | undefined)?.panes;
  const panes = module.late((runtime) => {
    const found = panesOf(runtime);
    found?.count(runtime);
    return found;
  });
  const table = module.late((runtime) => panesOf(runtime)?.table);
  const lanes = lanesOf(streams, program);
  const shared = sharedForm(streams, lanes);
  const text = new LaneText(program, panes, table);
  const takes = lanes.map((lane) => text.print(lane));
  printed.set(leader, { panes, lanes, takes });
  const equals = equalsAmong(streams, lanes);
  const kernels = streams.map((stream, position) => printKernel(stream, position, { shared, lanes, panes, equals, program }));
  kernels.slice(1).forEach((kernel, at) => void program.kernel(sourceOf(streams[at + 1] as SharingStream), () => kernel));
  const { create, links } = kernels[0] as PrintedKernel;
  return { create, links: [...links, ...takes] };
}

function lanesOf(streams: readonly SharingStream[], program: ProgramFusion): readonly Lane[] {
  const origins = [...new Set(streams.flatMap(({ form }) => form.origins))];
  let classes = 0;
  return origins.map((origin, at) => {
    const readers = streams.flatMap((stream, position) => (stream.form.origins.includes(origin) ? [{ stream, position }] : []));
    const first = (readers[0] as (typeof readers)[number]).stream;
    const candidate = new Candidate(first.form.pattern, origin, program.declared(origin.slice('event:'.length)), program.module);
    const parts = readers.map(({ stream, position }) => partOf(stream, position, origin, program));
    const byFit = new Map<string, LanePart[]>();
    for (const part of parts.filter(isCountable)) {
      const fit = printFit(part, part.slots[0] as number, candidate, new Body(program.module.names), program.module);
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
    return { at, candidate, parts, classes: bursts, single: parts.filter((part) => !isCountable(part)) };
  });
}

/** The events do one thing to the stream's trends, and nothing is read of them. */
function isCountable({ form, slots, isRead }: LanePart): boolean {
  return slots.length === 1 && form.pattern.steps[slots[0] as number]?.negated === false && !isRead;
}

function partOf({ form, index }: SharingStream, position: number, origin: string, program: ProgramFusion): LanePart {
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
    node: new StreamFusion(form.stream, index, program).node,
  };
}

function sharedForm(streams: readonly SharingStream[], lanes: readonly Lane[]): SharedForm {
  const [{ form }] = streams as [SharingStream];
  return {
    streams: streams.map(({ index }) => index),
    lanes: lanes.map(({ candidate, parts }) => ({
      origin: candidate.origin,
      type: candidate.type,
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
  readonly program: ProgramFusion;
}

function printKernel({ form, index }: SharingStream, position: number, { shared, lanes, panes, equals, program }: Sharing): PrintedKernel {
  const own = lanes.flatMap((lane) => lane.parts.filter((part) => part.position === position).map((part) => ({ lane, part })));
  const bursts = lanes.flatMap(({ classes }) => classes.filter(({ burst }) => burst.streams.includes(position)));
  const classes = bursts.map(({ at, parts }) => ({ at, slot: parts.find((part) => part.position === position)?.slots[0] as number }));
  const { kernel } = (own[0] as (typeof own)[number]).part;
  const close = printClose(form, kernel, new StreamFusion(form.stream, index, program));
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
      own.filter(({ lane }) => lane.parts[0]?.position === position).map(({ lane }) => [lane.at, lane.candidate.given]),
    ),
    keyFields: form.stream.partition.keys.map(({ value }) => (value.kind === 'field' ? value.name : '')),
    equals: equals[position] as readonly number[],
    endsMatter: !form.stream.operators.slice(1).every(isIndifferent),
  };
  const create: KernelFactory = (_: SourcePlan, options: SourceOptions) => new TrendKernel(kernelForm, options);
  return { create, links: [panes, close ?? 'null', ...steps] };
}

/** Does nothing when a window ends. */
function isIndifferent({ kind }: OperatorPlan): boolean {
  return kind === 'filter' || kind === 'select' || kind === 'emit' || kind === 'context';
}
