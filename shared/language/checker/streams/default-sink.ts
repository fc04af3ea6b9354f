import type { OperatorPlan, ToPlan } from '../../plan/plan.ts';
import { STR } from '../../plan/types.ts';
import type { CheckContext } from '../context.ts';
import { warnUnlessBuiltByDefault } from './connector-uses.ts';

/** `config mqtt` with an `output_topic`: the outputs of a stream without `.to` go there. */
export function addDefaultSink(operators: readonly OperatorPlan[], context: CheckContext): readonly OperatorPlan[] {
  const connector = context.table.connectors.find((symbol) => symbol.isDefault);
  const topic = connector?.plan.parameters.get('output_topic');
  if (!connector || typeof topic !== 'string' || delivers(operators)) return operators;
  connector.used = true;
  return behindOutputs(operators, (output) => {
    warnUnlessBuiltByDefault(connector, 'sink', context);
    const parts = { connector: connector.name, topic: { kind: 'constant', value: topic, type: STR }, parameters: new Map() } as const;
    const sink: ToPlan = {
      kind: 'to',
      ...parts,
      text: `to(${connector.name})`,
      fingerprint: context.fingerprint({ kind: 'to', ...parts }),
      origin: output.origin,
    };
    return sink;
  });
}

function delivers(operators: readonly OperatorPlan[]): boolean {
  return operators.some(
    (operator) => operator.kind === 'to' || (operator.kind === 'fork' && operator.branches.some((branch) => delivers(branch.operators))),
  );
}

/** Output events are made by `.emit` and `.process` alone. */
function behindOutputs(operators: readonly OperatorPlan[], sinkFor: (output: OperatorPlan) => OperatorPlan): readonly OperatorPlan[] {
  return operators.flatMap((operator) => {
    if (operator.kind === 'emit' || operator.kind === 'process') return [operator, sinkFor(operator)];
    if (operator.kind !== 'fork') return [operator];
    return [
      { ...operator, branches: operator.branches.map((branch) => ({ ...branch, operators: behindOutputs(branch.operators, sinkFor) })) },
    ];
  });
}
