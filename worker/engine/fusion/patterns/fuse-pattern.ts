import type { PatternPlan, PatternSourcePlan, SourcePlan, StreamPlan } from '../../../../shared/language/plan/plan.ts';
import type { RecordType } from '../../../../shared/language/plan/types.ts';
import type { KernelNode } from '../../physical/physical-plan.ts';
import type { SourceOptions } from '../../sources/source-options.ts';
import type { Columns } from '../columns.ts';
import type { StreamContext } from '../fusion-context.ts';
import { Body } from '../module-text.ts';
import type { DecidedKernel, ProgramFusion } from '../program-fusion.ts';
import type { FusedInlet } from '../shared-functions.ts';
import { Refusal } from '../typed.ts';
import type { Automaton } from './automaton.ts';
import { decideConditions } from './decide-conditions.ts';
import { isFlat } from './flat-form.ts';
import { collectsMatches } from './handler-names.ts';
import type { KernelForm } from './kernel-form.ts';
import { MatchColumns } from './match-columns.ts';
import { decideCounts } from './match-text.ts';
import { originNamesOf, patternAlgorithmOf } from './pattern-algorithm.ts';
import { PatternInput } from './pattern-input.ts';
import { PatternKernel } from './pattern-kernel.ts';
import { PatternText } from './pattern-text.ts';
import { type Kept, RunForm, type RunTimes, type SlotForm } from './run-form.ts';
import { runIndexKeysOf } from './run-index-keys.ts';

/** A pattern at the head of a stream: a function for the events of each origin, on the runs that its kernel holds. */
export function fusePattern(fusion: StreamContext, origin: string, columns: Columns): readonly FusedInlet[] | Refusal {
  const { program, plan: stream } = fusion;
  const { source } = stream;
  if (source.kind !== 'pattern') return new Refusal('it is no pattern');
  const decided = program.kernel(source, () => decide(fusion, source, false));
  if (decided instanceof Refusal) return decided;
  if (stream.time.outOfOrderMs > 0) return new Refusal('events wait for those that came before them');
  if (columns.isWhole === true) return new Refusal('they come whole');
  const { open, receivers } = decided;
  const { input, name } = receivers.get(origin) as Receiver;
  const inlet = fusion.inlet(origin, columns, (passed, body) => {
    const given = input.argumentsOf(passed);
    if (given instanceof Refusal) return given;
    body.note(() => program.useKernel(source));
    body.add(`${name}(${given.join(',')});`);
    fusion.watch(open, body);
    return null;
  });
  return inlet instanceof Refusal ? inlet : [inlet];
}

/** The kernel of a pattern whose rows all come whole. `isWatched`: the operators behind it take the rows of its matches. */
export function printRowPattern(fusion: StreamContext, isWatched: boolean): Refusal | null {
  const { program, plan: stream } = fusion;
  const { source } = stream;
  if (source.kind !== 'pattern' || stream.operators[0]?.kind === 'trend_aggregate') return new Refusal('it is no pattern');
  if (stream.time.on !== null) return new Refusal('a field says the time of its rows');
  const decided = program.kernel(source, () => decide(fusion, source, isWatched));
  if (decided instanceof Refusal) return decided;
  program.useKernel(source);
  return null;
}

/** A function that takes the events of an origin. */
interface Receiver {
  readonly input: PatternInput;
  readonly name: string;
}

/** A pattern as it was decided for the first that leads to it. */
interface DecidedPattern extends DecidedKernel {
  /** Name of its open runs, which know what is due. */
  readonly open: string;
  /** By origin. */
  readonly receivers: ReadonlyMap<string, Receiver>;
}

function decide(fusion: StreamContext, source: PatternSourcePlan, isWatched: boolean): DecidedPattern | Refusal {
  const { program, plan: stream, node } = fusion;
  const { module } = program;
  const { pattern: plan } = source;
  const algorithm = patternAlgorithmOf(stream, (origin) => recordOf(origin, program));
  if (algorithm.name === 'matcher') return new Refusal(algorithm.why);
  const { automaton } = algorithm;
  const isReordering = stream.time.outOfOrderMs > 0;
  const inputs = originNamesOf(plan).map(
    (origin) => new PatternInput(plan, origin, recordOf(origin, program) as RecordType, module, isWatched || isReordering),
  );
  const copiesLists = isReordering || inputs.some(({ isEvent }) => !isEvent);
  const use = { ...runTimes(automaton, plan, isWatched), copiesLists };
  const form = new RunForm(inputs, slotForms(plan, automaton, inputs, isWatched), use);
  if (isWatched) form.keepRows();
  const match = new MatchColumns(plan, stream.name, form, module);
  const matched = new Body(module.names);
  if (isWatched) matched.add(`${program.kernelName(source)}.give(${match.row()});`);
  const refused = isWatched ? null : fusion.chain(match, matched);
  if (refused !== null) return refused;
  const emit = module.define(() => match.parameters, matched);
  const counts = decideCounts(plan, stream, match, module);
  if (counts instanceof Refusal) return counts;
  const indexKeys = runIndexKeysOf(plan, automaton, form, inputs, stream.partition.keys.length > 0);
  const parts = { plan, stream, automaton, form, indexKeys, module, isWatched };
  const conditions = decideConditions(parts, inputs);
  if (conditions instanceof Refusal) return conditions;
  const runClass = form.defineClass(module, conditions.sharing.size > 0);
  const flat = isFlat(parts, inputs);
  const text = new PatternText({ ...parts, ...conditions, isFlat: flat, source, match, emit, counts, runClass, node });
  const receivers = inputs.map((input) => ({ input, name: text.receive(input) }));
  const kernelForm = {
    plan,
    automaton,
    indexKeys,
    origins: inputs.map(({ origin, given }) => ({ origin, given })),
    kept: form.kept,
    historyOf: (slot: number) => form.historyOf(slot),
    sharedSlots: automaton.states.map(({ id }) => conditions.sharing.get(id) ?? null),
    fieldNames: plan.steps.map((_, slot) => form.fieldNames(slot)),
    isWatched,
    isReordering,
    isFlat: flat,
    hasBase: form.hasBase,
    hasLastAt: form.hasLastAt,
    key: text.key,
  };
  return {
    open: text.open,
    receivers: new Map(receivers.map((receiver) => [receiver.input.origin, receiver])),
    create: (_: SourcePlan, options: SourceOptions) => new PatternKernel(kernelForm, options),
    links: () => [runClass, text.ended(), ...receivers.map(({ name }) => name), ...text.catchUps.values()],
    node: nodeOf(plan, stream, kernelForm),
  };
}

/** Runs are found by their partition and, in each state, by the value that the next event must equal. */
function nodeOf(plan: PatternPlan, { partition }: StreamPlan, { automaton, indexKeys, kept }: KernelForm): KernelNode {
  const step = (slot: number): string => plan.steps[slot]?.alias ?? plan.steps[slot]?.input.name ?? '';
  const textOf = ({ slot, aspect, name }: Kept): string => `${step(slot)}.${aspect === 'field' ? name : aspect}`;
  const keys = [...partition.keys.map(({ name }) => name), ...indexKeys.flatMap((indexKey) => (indexKey === null ? [] : textOf(indexKey)))];
  return {
    name: `automaton of ${automaton.states.length + 1} states`,
    keys: [...new Set(keys)],
    keeps: [...new Set(kept.map(textOf))],
    sharedWith: [],
  };
}

/** What is known of the fields of an origin's events; null = nothing. */
function recordOf(origin: string, program: ProgramFusion): RecordType | null {
  if (origin.startsWith('event:')) return program.declared(origin.slice('event:'.length));
  if (!origin.startsWith('stream:')) return null;
  const type = program.plan.streams[Number(origin.slice('stream:'.length))]?.resultType;
  return type?.kind === 'record' ? type : null;
}

function runTimes({ waits, isTimed, states }: Automaton, { afterMatch }: PatternPlan, isWatched: boolean): RunTimes {
  const isEndedByTime = waits || states.some(({ passed }) => passed !== null);
  return { hasBase: waits || isTimed, isTimed, hasLastAt: isWatched || (afterMatch === 'skip_past_last' && isEndedByTime) };
}

function slotForms(plan: PatternPlan, automaton: Automaton, inputs: readonly PatternInput[], isWatched: boolean): readonly SlotForm[] {
  const isCollected = inputs.some((input) => collectsMatches(automaton, input));
  const taken = [automaton.initial, ...automaton.states].flatMap(({ transitions }) => transitions);
  return plan.steps.map(({ slot }) => {
    const isList = automaton.isList[slot] === true;
    const isUnsure = automaton.states.some(({ captured }) => captured[slot] === null);
    const isLast = taken.every((transition) => transition.slot !== slot || transition.target.isOver);
    return { isList, isCounted: isList || isUnsure, isPassed: isLast && !isList && !isCollected && !isWatched };
  });
}
