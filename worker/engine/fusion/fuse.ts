import type { Plan } from '../../../shared/language/plan/plan.ts';
import { loadGenerated } from '../compile/load.ts';
import { verifyGenerated } from '../compile/verify.ts';
import type { EventEntry } from './event-entry.ts';
import type { FusedRuntime, Kernel, KernelFactory } from './fused-runtime.ts';
import { type PrintedEntry, ProgramFusion } from './program-fusion.ts';
import { fusedLibrary, fusedParameters, fusedVocabulary } from './vocabulary.ts';

/** A program whose streams have become generated code as far as they have a form there. */
export interface FusedProgram {
  /** What takes the place of the operator or source of this plan; undefined = nothing does. */
  kernelOf(plan: object): KernelFactory | undefined;
  /** Loads the generated code and ties it to the running program. */
  link(runtime: FusedRuntime): readonly EventEntry[];
}

/** Prints a program. Null when nothing of it has a form in generated code. */
export function fuse(plan: Plan): FusedProgram | null {
  const fusion = new ProgramFusion(plan);
  if (fusion.entries.length === 0 && fusion.kernels.size === 0) return null;
  return { kernelOf: (one) => fusion.kernels.get(one)?.create, link: (runtime) => link(fusion, runtime) };
}

function link(fusion: ProgramFusion, runtime: FusedRuntime): readonly EventEntry[] {
  const { module } = fusion;
  const { text } = module;
  verifyGenerated(text, fusedVocabulary);
  const { output, defer, rowOfEvent } = runtime;
  const given = [module.resolve(text, runtime), output, defer, rowOfEvent, ...Object.values(fusedLibrary)];
  const exported = loadGenerated(text, fusedParameters, 'fused')(...given) as readonly unknown[];
  for (const [plan, { links }] of fusion.kernels) (runtime.kernel(plan) as Kernel).link(...links.map((at) => exported[at]));
  const entries = fusion.entries.filter(({ event }) => runtime.arrivals(event) !== null);
  return entries.map((entry) => eventEntry(entry, exported));
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
