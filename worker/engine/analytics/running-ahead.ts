import { modelOf } from '../../../shared/language/plan/alike.ts';
import type { InputPlan, OperatorPlan, Plan, StreamPlan } from '../../../shared/language/plan/plan.ts';
import { inputsOf, upstreamFirst } from '../streams/plan-inputs.ts';

/** Where the rows of a stream waited last: at a stream with an operator that asks, by index. Null: nowhere. */
type Gate = number | null;

/**
 * Whether events may come in while rows of events before them still wait for answers, and the results are those of answers that came at once. It
 * takes that rows meet nothing behind their wait but rows that waited there too: no other input, no variable, no clock of their own. Rows keep
 * their order, so these cannot tell how long they waited.
 */
export function mayRunAhead(plan: Plan): boolean {
  if (plan.globals.some(({ binding }) => binding === 'var')) return false;
  const gates = new Map<number, Gate>();
  for (const index of upstreamFirst(plan)) {
    const gate = gateOf(plan.streams[index] as StreamPlan, index, gates);
    if (gate === undefined) return false;
    gates.set(index, gate);
  }
  return true;
}

/** Undefined: rows meet others. */
function gateOf(stream: StreamPlan, index: number, gates: ReadonlyMap<number, Gate>): Gate | undefined {
  const inputs = inputsOf(stream.source);
  const before = new Set(inputs.map(({ from }) => gateOfInput(from, gates)));
  const isAtGate = [...before].some((gate) => gate !== null);
  if (before.has(undefined) || (isAtGate && (before.size > 1 || stream.time.on !== null))) return undefined;
  const { operators } = modelOf(stream);
  const last = operators.findLastIndex(asks);
  if (last < 0) return [...before][0] ?? null;
  return operators.slice(0, last + 1).some(({ kind }) => kind === 'fork') ? undefined : index;
}

/** Of the late events of a stream nobody can tell whether they waited. */
function gateOfInput(from: InputPlan['from'], gates: ReadonlyMap<number, Gate>): Gate | undefined {
  if (from.kind === 'event') return null;
  const gate = gates.get(from.stream) ?? null;
  return from.kind === 'late' && gate !== null ? undefined : gate;
}

function asks(operator: OperatorPlan): boolean {
  if (operator.kind === 'fork') return operator.branches.some((branch) => branch.operators.some(asks));
  return operator.kind === 'enrich' || operator.kind === 'score';
}
