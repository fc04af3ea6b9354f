import { CepError } from '../../../shared/errors/error.ts';
import { modelOf } from '../../../shared/language/plan/alike.ts';
import type { OperatorPlan, Plan, ScorePlan } from '../../../shared/language/plan/plan.ts';
import type { EngineHost } from '../engine.ts';

/** Every `.score` of a program, in written order. A host makes sure before it starts that it can run their models. */
export function scoresOf(plan: Plan): readonly ScorePlan[] {
  const scores: ScorePlan[] = [];
  // Those of a model of many streams are looked through once, where there are none.
  let without: readonly OperatorPlan[] | null = null;
  for (const stream of plan.streams) {
    const { operators } = modelOf(stream);
    if (operators === without) continue;
    const found = scoresIn(operators);
    if (found.length === 0) without = operators;
    else scores.push(...found);
  }
  return scores;
}

function scoresIn(operators: readonly OperatorPlan[]): readonly ScorePlan[] {
  return operators.flatMap((operator) => {
    if (operator.kind === 'fork') return operator.branches.flatMap((branch) => scoresIn(branch.operators));
    return operator.kind === 'score' ? [operator] : [];
  });
}

/** @throws CepError when the program scores and the host runs no models */
export function requireModels(plan: Plan, host: EngineHost): void {
  if (host.score !== undefined) return;
  const [first] = scoresOf(plan);
  if (first === undefined) return;
  const { line, column } = first.origin.source.position(first.origin.span.start);
  throw new CepError('runtime_error', `${first.origin.source.name}:${line}:${column}: the model '${first.model}' cannot be run here`, {
    hint: 'models run with the package onnxruntime-node: npm install onnxruntime-node',
  });
}
