import { invariant } from '../../../shared/errors/error.ts';
import { modelOf } from '../../../shared/language/plan/alike.ts';
import type { Plan } from '../../../shared/language/plan/plan.ts';
import { loadGenerated } from '../compile/load.ts';
import { verifyGenerated } from '../compile/verify.ts';
import { hasKernel } from '../operators/operator-facts.ts';
import type { Row } from '../operators/row.ts';
import type { PhysicalPlan } from '../physical/physical-plan.ts';
import type { EventEntry } from './event-entry.ts';
import type { FusedRuntime, Kernel, KernelFactory } from './fused-runtime.ts';
import { fuserOf } from './operators/registry.ts';
import { type PrintedEntry, ProgramEntries } from './program-entries.ts';
import { ProgramFusion } from './program-fusion.ts';
import { rowSourceFuserOf, sourceFuserOf } from './sources/registry.ts';
import { StreamFollowers } from './stream-followers.ts';
import { fusedLibrary, fusedParameters, fusedVocabulary } from './vocabulary.ts';

/** The ways into a program that is linked. */
export interface LinkedProgram {
  readonly entries: readonly EventEntry[];
  /** By type: what takes whole events, where generated code does. */
  readonly rowEntries: ReadonlyMap<string, (row: Row) => void>;
}

/** A program whose streams have become generated code as far as they have a form there. */
export interface FusedProgram {
  /** What takes the place of the operator or source of this plan; undefined = nothing does. */
  kernelOf(plan: object): KernelFactory | undefined;
  /** Loads the generated code and ties it to the running program. */
  link(runtime: FusedRuntime): LinkedProgram;
}

/** Prints a program. Null when nothing of it has a form in generated code. */
export function fuse(plan: Plan, options: PrintOptions = {}): FusedProgram | null {
  const fusion = printProgram(plan, options);
  const { entries, rowEntries, kernels } = fusion;
  if (entries.length === 0 && rowEntries.length === 0 && kernels.size === 0) return null;
  return new LoadableProgram(fusion);
}

/** Lets go of the text and of what was decided as soon as it is linked, which is done once. */
class LoadableProgram implements FusedProgram {
  readonly #kernels: PrintedProgram['kernels'];
  #printed: PrintedProgram | null;

  constructor(printed: PrintedProgram) {
    this.#kernels = printed.kernels;
    this.#printed = printed;
  }

  kernelOf(plan: object): KernelFactory | undefined {
    return this.#kernels.get(plan)?.create;
  }

  link(runtime: FusedRuntime): LinkedProgram {
    invariant(this.#printed !== null, 'a program is linked once');
    const linked = link(this.#printed, runtime);
    this.#printed = null;
    return linked;
  }
}

function link(fusion: PrintedProgram, runtime: FusedRuntime): LinkedProgram {
  const { module } = fusion;
  const { text } = module;
  verifyGenerated(text, fusedVocabulary);
  const { output, defer, rowOfEvent } = runtime;
  const given = [module.resolve(runtime), output, defer, rowOfEvent, ...Object.values(fusedLibrary)];
  const exported = loadGenerated(text, fusedParameters, 'fused')(...given) as readonly unknown[];
  for (const [plan, { links }] of fusion.kernels) (runtime.kernel(plan) as Kernel).link(...links.map((at) => exported[at]));
  const entries = fusion.entries.filter(({ event }) => runtime.arrivals(event) !== null);
  const rowEntries = fusion.rowEntries.map(({ type, position }) => [type, exported[position] as (row: Row) => void] as const);
  return { entries: entries.map((entry) => eventEntry(entry, exported)), rowEntries: new Map(rowEntries) };
}

function eventEntry({ event, reads, keys, position }: PrintedEntry, exported: readonly unknown[]): EventEntry {
  const timeField = event.fields.findIndex(({ name }) => name === event.timeField);
  return {
    type: event.name,
    fields: event.fields.map(({ name, type }) => ({ name, type, isRead: reads.includes(name), isKey: keys.includes(name) })),
    timeField: timeField < 0 ? null : timeField,
    enter: exported[position] as EventEntry['enter'],
  };
}

/** How a program runs when nobody traces it. */
export function physicalPlanOf(plan: Plan): PhysicalPlan {
  return printProgram(plan).physicalPlan;
}

/** A program as it is printed. */
export type PrintedProgram = Pick<ProgramFusion, 'module' | 'kernels' | 'physicalPlan'> & Pick<ProgramEntries, 'entries' | 'rowEntries'>;

export interface PrintOptions {
  /**
   * Each operator is to be seen at work: all rows come whole to each of them, and only kernels are printed. `explained`: only those of
   * sources, as operators tell then what they hold. Null = nobody looks on.
   */
  readonly watched?: 'traced' | 'explained' | null;
  /** By event type the field whose value says whose an event is, of an engine that shares them with others; null: that does not matter. */
  readonly keys?: ReadonlyMap<string, string | null> | undefined;
}

/** Decides how all of a program runs, then prints what has a form in generated code. */
export function printProgram(plan: Plan, { watched = null, keys }: PrintOptions = {}): PrintedProgram {
  const program = new ProgramFusion(plan);
  const followers = new StreamFollowers(program, { operator: fuserOf, source: sourceFuserOf, rowSource: rowSourceFuserOf });
  const { entries, rowEntries } = new ProgramEntries(program, followers, { isWatched: watched !== null, keys });
  plan.streams.forEach((one, index) => {
    // What a loop makes of one statement has neither.
    if (one.source.kind === 'events' && !modelOf(one).operators.some(hasKernel)) return;
    const stream = followers.stream(index);
    stream.printRowSource(watched !== null);
    if (watched !== 'explained') stream.printRowKernels();
  });
  const { module, kernels } = program;
  return {
    module,
    kernels,
    entries,
    rowEntries,
    get physicalPlan() {
      return program.physicalPlan;
    },
  };
}
