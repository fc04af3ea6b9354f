import type { OperatorPlan } from '../../../shared/language/plan/plan.ts';
import type { Kernel } from '../fusion/fused-runtime.ts';
import type { Next, Operator } from '../operators/operator.ts';
import { createOperator, isHoldingBack } from '../operators/registry.ts';
import { decidingValues } from '../trace/deciding-values.ts';
import { TracedOperator, type TracedOptions } from '../trace/traced-operator.ts';
import type { MakeLink } from './chain.ts';
import { OperatorContext } from './operator-context.ts';
import type { StreamRuntime } from './stream-runtime.ts';

/** Makes the operators of a stream's chains; traced ones when the host traces. `around`: the operator that the chain is in. */
export function linkMaker(stream: StreamRuntime, around: OperatorContext | null = null): MakeLink {
  return (plan, next) => {
    const context: OperatorContext = new OperatorContext(stream, plan, { around, makeLink: () => linkMaker(stream, context) });
    const create = (target: typeof next): Operator => createWith(stream, plan, target, context);
    const decided = listenerOf(stream, plan, context);
    const operator = decided === null ? create(next) : new TracedOperator({ next, decided, holdsBack: isHoldingBack(plan), create });
    return {
      plan,
      operator,
      reach: (watermark) => context.reach(watermark),
      standBehind: (gates) => context.standBehind(gates),
      heldAt: () => context.heldAt(null),
      fail: (error, row) => {
        if (row !== null) stream.witness?.decided(plan, 'FAIL', row, error.message);
        context.fail(error, row, plan);
      },
    };
  };
}

/** The operator, or the kernel of generated code that takes its place. */
function createWith(stream: StreamRuntime, plan: OperatorPlan, next: Next, context: OperatorContext): Operator {
  const kernel = stream.program.kernelOf(plan) as
    | ((plan: OperatorPlan, next: Next, context: OperatorContext) => Operator & Kernel)
    | undefined;
  if (kernel === undefined) return createOperator(plan, next, context);
  const operator = kernel(plan, next, context);
  stream.program.addKernel(plan, operator);
  return operator;
}

/** Who wants to know what an operator decides: the host's tracer, the stream's witness. Null = nobody. */
function listenerOf(stream: StreamRuntime, plan: OperatorPlan, context: OperatorContext): TracedOptions['decided'] | null {
  const { witness } = stream;
  const tracer = stream.program.host.trace;
  if (tracer === undefined) return witness === null ? null : (verdict, row, isHandedOn) => witness.passed(plan, verdict, row, isHandedOn);
  const values = decidingValues(plan, context);
  return (verdict, row, isHandedOn) => {
    tracer.operator(context.stream.name, plan.text, verdict, values(row));
    witness?.passed(plan, verdict, row, isHandedOn);
  };
}
