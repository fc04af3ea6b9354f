import type { OperatorPlan, PatternPlan, PatternSourcePlan, SourcePlan, StreamPlan } from '../../../../shared/language/plan/plan.ts';
import type { RecordType } from '../../../../shared/language/plan/types.ts';
import type { SourceOptions } from '../../sources/registry.ts';
import { originsOf } from '../../streams/routes.ts';
import type { Columns } from '../columns.ts';
import type { KernelFactory } from '../fused-runtime.ts';
import type { ProgramFusion } from '../program-fusion.ts';
import type { FusedInlet, StreamFusion } from '../stream-fusion.ts';
import { CannotFuse } from '../typed.ts';
import { Automaton } from './automaton.ts';
import { Candidate } from './candidate.ts';
import { homesOf } from './homes.ts';
import { MatchColumns } from './match-columns.ts';
import { printCounts } from './match-text.ts';
import { PatternKernel } from './pattern-kernel.ts';
import { PatternText } from './pattern-text.ts';
import { RunForm, type RunTimes, type SlotForm } from './run-form.ts';
import { collectsMatches } from './scene.ts';

/** A pattern at the head of a stream: a function for the events of each origin, on the runs that its kernel holds. */
export function fusePattern(fusion: StreamFusion, origin: string, columns: Columns): readonly FusedInlet[] {
  const { program, plan: stream } = fusion;
  const { source } = stream;
  if (source.kind !== 'pattern') throw new CannotFuse();
  program.kernel(source, () => print(fusion, source));
  const { open, receivers } = printed.get(source) as Printed;
  const { candidate, name } = receivers.get(origin) as Receiver;
  const inlet = fusion.inlet(columns, (passed, body) => {
    body.add(`${name}(${candidate.argumentsOf(passed).join(',')});`);
    fusion.watch(open, body);
  });
  return [inlet];
}

/** A printed function that takes the events of an origin. */
interface Receiver {
  readonly candidate: Candidate;
  readonly name: string;
}

/** What stands for a pattern in the text. */
interface Printed {
  /** Name of its open runs, which know what is due. */
  readonly open: string;
  /** By origin. */
  readonly receivers: ReadonlyMap<string, Receiver>;
}

/** By source, as it was printed last. */
const printed = new WeakMap<PatternSourcePlan, Printed>();

function print(fusion: StreamFusion, source: PatternSourcePlan): ReturnType<Parameters<ProgramFusion['kernel']>[1]> {
  const { program, plan: stream } = fusion;
  const { module } = program;
  const { pattern: plan } = source;
  requirePlain(plan, stream);
  const automaton = new Automaton(plan);
  requireMatchesOneByOne(automaton, plan);
  requirePlainBreaks(automaton, plan);
  const candidates = originNames(plan).map((origin) => new Candidate(plan, origin, recordOf(origin, program), module));
  const form = new RunForm(candidates, slotForms(plan, automaton, candidates), runTimes(automaton, plan));
  const match = new MatchColumns(plan, stream.name, form, module);
  const emit = module.function(
    () => match.parameters,
    (body) => fusion.chain(match, body),
  );
  const counts = printCounts(plan, stream, match, module);
  const homes = homesOf(plan, automaton, form, candidates, stream.partition.keys.length > 0);
  const text = new PatternText({ plan, source, automaton, form, homes, match, emit, counts, stream, module, node: fusion.node });
  for (const candidate of candidates) text.note(candidate);
  const catchUps = text.printCatchUps();
  const runClass = form.printClass(module, catchUps.size > 0);
  const receivers = candidates.map((candidate) => ({ candidate, name: text.receive(candidate, runClass) }));
  printed.set(source, { open: text.open, receivers: new Map(receivers.map((receiver) => [receiver.candidate.origin, receiver])) });
  const origins = candidates.map((candidate) => ({ origin: candidate.origin, given: candidate.given }));
  const kernelForm = {
    plan,
    automaton,
    homes,
    origins,
    kept: form.kept,
    historyOf: (slot: number) => form.historyOf(slot),
    isShared: automaton.states.map(({ id }) => catchUps.has(id)),
    fieldNames: (slot: number) => form.fieldNames(slot),
    hasBase: form.hasBase,
    hasLastAt: form.hasLastAt,
    key: text.key,
  };
  const create: KernelFactory = (_: SourcePlan, options: SourceOptions) => new PatternKernel(kernelForm, options);
  return { create, links: [runClass, text.ended(), ...receivers.map(({ name }) => name), ...catchUps.values()] };
}

function originNames(plan: PatternPlan): readonly string[] {
  return [...originsOf([...plan.steps, ...plan.cancels].map((step) => step.input)).keys()];
}

/** What is known of the fields of an origin's events; null = nothing. */
function recordOf(origin: string, program: ProgramFusion): RecordType | null {
  if (origin.startsWith('event:')) return program.declared(origin.slice('event:'.length));
  if (!origin.startsWith('stream:')) return null;
  const type = program.plan.streams[Number(origin.slice('stream:'.length))]?.resultType;
  return type?.kind === 'record' ? type : null;
}

/** @throws CannotFuse where more than steps, conditions and `within` say what matches */
function requirePlain(plan: PatternPlan, stream: StreamPlan): void {
  const isPlain =
    plan.selection !== 'any' &&
    plan.cancels.every((cancel) => cancel.input.operators.length === 0) &&
    plan.steps.every((step) => step.taps.length === 0 && step.input.operators.length === 0) &&
    stream.partition.expireMs === null &&
    stream.time.outOfOrderMs === 0 &&
    stream.onError !== 'null' &&
    !stream.operators.some(seesRuns);
  if (!isPlain) throw new CannotFuse();
}

/** Operators that follow the runs themselves. */
function seesRuns(operator: OperatorPlan): boolean {
  if (operator.kind === 'fork') return operator.branches.some((branch) => branch.operators.some(seesRuns));
  return operator.kind === 'forecast' || operator.kind === 'trend_aggregate';
}

/** @throws CannotFuse where an event may give a run several matches at once */
function requireMatchesOneByOne({ initial, states, completion, waits }: Automaton, plan: PatternPlan): void {
  const { enumerated } = completion;
  if (enumerated === null) return;
  const isEndedByTime = waits || states.some(({ passed }) => passed?.isOver);
  if (enumerated.kind !== 'step' || plan.emission !== 'each' || isEndedByTime) throw new CannotFuse();
  const { slot } = enumerated;
  const emitting = [initial, ...states].flatMap(({ transitions }) => transitions).filter(({ emits }) => emits);
  if (!emitting.every((one) => one.slot === slot || one.target.captured[slot] === false)) throw new CannotFuse();
}

/** @throws CannotFuse where a break of `.strict()` does more than end a run */
function requirePlainBreaks({ states }: Automaton, { selection }: PatternPlan): void {
  if (selection === 'strict' && states.some(({ absence }) => absence !== null)) throw new CannotFuse();
}

function runTimes({ waits, isTimed, states }: Automaton, { afterMatch }: PatternPlan): RunTimes {
  const isEndedByTime = waits || states.some(({ passed }) => passed !== null);
  return { hasBase: waits || isTimed, isTimed, hasLastAt: afterMatch === 'skip_past_last' && isEndedByTime };
}

function slotForms(plan: PatternPlan, automaton: Automaton, candidates: readonly Candidate[]): readonly SlotForm[] {
  const isCollected = candidates.some((candidate) => collectsMatches(automaton, candidate));
  const taken = [automaton.initial, ...automaton.states].flatMap(({ transitions }) => transitions);
  return plan.steps.map(({ slot }) => {
    const isList = automaton.isList[slot] === true;
    const isUnsure = automaton.states.some(({ captured }) => captured[slot] === null);
    const isLast = taken.every((transition) => transition.slot !== slot || transition.target.isOver);
    return { isList, isCounted: isList || isUnsure, isPassed: isLast && !isList && !isCollected };
  });
}
