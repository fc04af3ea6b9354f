import type { EventPlan, OperatorPlan, Plan, SourcePlan, StreamPlan } from '../../../shared/language/plan/plan.ts';
import type { EntryNode, Execution, KernelNode, OperatorNode, PhysicalPlan, ReaderNode, StreamNode } from '../physical/physical-plan.ts';
import { inputsOf } from '../streams/plan-inputs.ts';
import { readersOf } from '../streams/routes.ts';
import { boundsText, type RuleBounds } from './rules/finder.ts';
import { windowNodeOf } from './windows/window-node.ts';

/** Position of a stream's source among its operators. */
export const SOURCE = -1;

/** One choice: how an operator of a stream runs, or how streams take the rows of an origin. */
export type Decision =
  | { readonly of: 'operator'; readonly stream: number; readonly at: number; readonly runs: Execution }
  | { readonly of: 'reader'; readonly origin: string; readonly streams: readonly number[]; readonly reader: Omit<ReaderNode, 'streams'> };

/** What was decided about the events of a type. */
export type EntryDecision = Omit<EntryNode, 'type' | 'readers'>;

/** A stream that is found among others. `like`: the one as whose source and operators its own run; null = they run as they were decided. */
interface FoundStream {
  readonly stream: number;
  readonly bounds: RuleBounds;
  readonly like: number | null;
}

/** The decisions about a program, in the order in which they are printed. */
export class Decisions {
  readonly #made: Decision[] = [];
  readonly #entries = new Map<EventPlan, EntryDecision>();
  readonly #found: (readonly FoundStream[])[] = [];

  operator(stream: number, at: number, runs: Execution): void {
    this.#made.push({ of: 'operator', stream, at, runs });
  }

  reader(origin: string, streams: readonly number[], reader: Omit<ReaderNode, 'streams'>): void {
    this.#made.push({ of: 'reader', origin, streams, reader });
  }

  entry(event: EventPlan, decision: EntryDecision): void {
    this.#entries.set(event, decision);
  }

  /** What streams that read the same rows are found by. */
  found(streams: readonly FoundStream[]): void {
    this.#found.push(streams);
  }

  /** `kernelOf`: what is known of the kernel of a source; null = it has none. */
  planOf(plan: Plan, kernelOf: KernelOf): PhysicalPlan {
    const runs = new Lists<Execution>();
    const readers = new Lists<ReaderNode>();
    const written = writtenReaders(plan);
    const found = new Map(this.#found.flat().map((one) => [one.stream, one]));
    for (const one of this.#made) {
      if (one.of === 'operator') runs.add(`${one.stream} ${one.at}`, one.runs);
      else readers.add(one.origin, { ...one.reader, streams: one.streams.map((at) => nameOf(plan, at)) });
    }
    const readersOf = (origin: string): readonly ReaderNode[] => readers.of(origin) ?? written.of(origin) ?? [];
    const entries = plan.events.map((event) => ({
      type: event.name,
      ...(this.#entries.get(event) as EntryDecision),
      readers: readersOf(`event:${event.name}`),
    }));
    const undeclared = undeclaredTypes(plan).map((type) => ({
      type,
      form: 'rows' as const,
      why: 'it is not declared',
      columns: [],
      placed: [],
      readers: readersOf(`event:${type}`),
    }));
    return {
      entries: [...entries, ...undeclared].filter((entry) => entry.readers.length > 0),
      streams: plan.streams.map((stream, index) => {
        const own = found.get(index);
        const runsAt = (at: number): readonly Execution[] => runs.of(`${own?.like ?? index} ${at}`) ?? [];
        const node = streamNode(stream, plan, { runsAt, readers: readersOf(`stream:${index}`), kernelOf });
        return { ...node, found: own === undefined ? null : boundsText(own.bounds) };
      }),
    };
  }
}

/** Types that the program reads and does not declare. */
function undeclaredTypes(plan: Plan): readonly string[] {
  const declared = new Set(plan.events.map(({ name }) => `event:${name}`));
  return [...readersOf(plan).keys()].flatMap((origin) =>
    origin.startsWith('event:') && !declared.has(origin) ? [origin.slice('event:'.length)] : [],
  );
}

function nameOf(plan: Plan, stream: number): string {
  return (plan.streams[stream] as StreamPlan).name;
}

/** Lists by key, with each one once, as equal data. */
class Lists<T> {
  readonly #lists = new Map<string, Map<string, T>>();

  add(key: string, one: T): void {
    const list = this.#lists.get(key) ?? new Map<string, T>();
    list.set(JSON.stringify(one), one);
    this.#lists.set(key, list);
  }

  /** Null where nothing was added. */
  of(key: string): readonly T[] | null {
    const list = this.#lists.get(key);
    return list === undefined ? null : [...list.values()];
  }
}

/** By origin: who reads it, as where nothing printed leads to it. */
function writtenReaders(plan: Plan): Lists<ReaderNode> {
  const written = new Lists<ReaderNode>();
  for (const [origin, streams] of readersOf(plan)) {
    for (const at of streams.keys()) written.add(origin, { streams: [nameOf(plan, at)], form: 'rows', why: null, index: null });
  }
  return written;
}

type KernelOf = (source: SourcePlan) => KernelNode | null;

interface DecidedStream {
  readonly runsAt: (at: number) => readonly Execution[];
  readonly readers: readonly ReaderNode[];
  readonly kernelOf: KernelOf;
}

function streamNode(stream: StreamPlan, plan: Plan, { runsAt, readers, kernelOf }: DecidedStream): Omit<StreamNode, 'found'> {
  const rows: readonly Execution[] = [{ by: 'rows', why: null }];
  const source = runsAt(SOURCE);
  const whole: readonly Execution[] = source.length === 0 ? [{ by: 'rows', why: whyRows(stream, plan) }] : source;
  const sourceRuns = whole.map((one) => withKernel(one, stream, kernelOf));
  const operators = stream.operators.map((operator, at): OperatorNode => {
    const runs = runsAt(at).length === 0 ? rows : runsAt(at);
    return { text: operator.text, runs: runs.map((one) => withWindow(one, operator, stream)) };
  });
  return { name: stream.name, source: { text: sourceText(stream.source), runs: sourceRuns }, operators, readers };
}

/** Joins, patterns and trends have one kernel, whatever form their rows have. */
function withKernel(execution: Execution, { source, operators: [first], partition }: StreamPlan, kernelOf: KernelOf): Execution {
  if (execution.by !== 'rows') return execution;
  const whole = { by: 'kernel', form: 'rows', why: execution.why } as const;
  const kernel = kernelOf(source);
  if (kernel !== null) return { ...whole, kernel };
  if (source.kind === 'join') {
    const name = `${source.join} join of ${source.sides.length} sides`;
    return { ...whole, kernel: { name, keys: [], keeps: ['rows'], sharedWith: [] } };
  }
  if (first?.kind !== 'trend_aggregate') return execution;
  const keeps = [...new Set(first.calls.map((call) => call.function))];
  return { ...whole, kernel: { name: 'trends, in groups', keys: partition.keys.map(({ name }) => name), keeps, sharedWith: [] } };
}

/** Windows and running aggregates have kernels for whole rows as well. */
function withWindow(execution: Execution, operator: OperatorPlan, stream: StreamPlan): Execution {
  const kernel = execution.by === 'rows' ? windowNodeOf(operator, stream) : null;
  return kernel === null || execution.by !== 'rows' ? execution : { by: 'kernel', form: 'rows', why: execution.why, kernel };
}

/** Why no rows come to a stream by columns. */
function whyRows({ source }: StreamPlan, { events }: Plan): string {
  if (source.kind === 'timer') return 'time alone makes its rows';
  const [first] = inputsOf(source);
  if (first?.from.kind !== 'event') return `the rows of \`${first?.name}\` come whole`;
  const isDeclared = events.some(({ name }) => name === first.name);
  return isDeclared ? `events of \`${first.name}\` come whole` : `\`${first.name}\` is not declared`;
}

function sourceText(source: SourcePlan): string {
  switch (source.kind) {
    case 'events':
      return `from ${source.inputs.map(({ name }) => name).join(', ')}`;
    case 'join':
      return `${source.join === 'inner' ? '' : `${source.join} `}join of ${source.sides.map(({ name }) => name).join(', ')}`;
    case 'pattern':
      return `pattern of ${source.pattern.steps.map(({ input, alias }) => alias ?? input.name).join(', ')}`;
    case 'timer':
      return 'timer';
  }
}
