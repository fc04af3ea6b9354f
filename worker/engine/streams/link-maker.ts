import type { OperatorPlan } from '../../../shared/language/plan/plan.ts';
import type { Kernel } from '../fusion/fused-runtime.ts';
import type { Next, Operator } from '../operators/operator.ts';
import { isGathering, isHoldingBack } from '../operators/operator-facts.ts';
import { createOperator } from '../operators/registry.ts';
import { decidingValues, keyIn } from '../trace/deciding-values.ts';
import { blockReason } from '../trace/explain-attempt.ts';
import { TracedOperator, type TracedOptions } from '../trace/traced-operator.ts';
import type { MakeLink } from './chain.ts';
import { OperatorContext } from './operator-context.ts';
import type { StreamRuntime } from './stream-runtime.ts';

/** Makes the operators of a stream's chains; traced ones when the host traces. `around`: the operator that the chain is in. */
export function linkMaker(stream: StreamRuntime, around: OperatorContext | null = null): MakeLink {
  return (plan, next) => {
    const context: OperatorContext = new OperatorContext(stream, plan, { around, makeLink: () => linkMaker(stream, context) });
    const create = (target: typeof next): Operator => remembering(createWith(stream, plan, target, context), plan, stream, context);
    const decided = listenerOf(stream, plan, context);
    const operator = decided === null ? create(next) : traced({ next, decided, holdsBack: isHoldingBack(plan), create }, context);
    return {
      plan,
      operator,
      reach: (watermark) => context.reach(watermark),
      standBehind: (holds) => context.standBehind(holds),
      heldAt: () => context.heldAt(null),
      fail: (error, row) => {
        if (row !== null) stream.recorder?.decided(plan, 'FAIL', row, error.message);
        stream.fail(error, row, plan);
      },
    };
  };
}

/** The operator; of one that puts rows together, what comes to it is remembered where outputs are to name the events behind them. */
function remembering(operator: Operator, plan: OperatorPlan, stream: StreamRuntime, context: OperatorContext): Operator {
  const { causes } = stream.program;
  if (causes === null || plan !== stream.plan.operators.find(isGathering)) return operator;
  const process = operator.process.bind(operator);
  operator.process = (row) => {
    causes.gathered(stream.index, row, context.partition(row));
    process(row);
  };
  return operator;
}

function traced(options: TracedOptions, context: OperatorContext): TracedOperator {
  const operator = new TracedOperator(options);
  context.observed = operator;
  return operator;
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

/** What is told the decisions of an operator: the host's tracer, the stream's recorder. Null = there is neither. */
function listenerOf(stream: StreamRuntime, plan: OperatorPlan, context: OperatorContext): TracedOptions['decided'] | null {
  const { recorder } = stream;
  const tracer = stream.program.host.trace;
  if (tracer === undefined) return recorder === null ? null : (verdict, row, isHandedOn) => recorder.passed(plan, verdict, row, isHandedOn);
  const values = decidingValues(plan, context);
  const reader = stream.program.conditions.of(stream.plan);
  return (verdict, row, isHandedOn) => {
    const reason = verdict === 'BLOCK' ? blockReason(plan, row, reader).why : '';
    const why = reason === '' ? values(row) : [reason];
    tracer.decided({ stream: context.stream.name, key: keyIn(context, row), operator: plan.text, verdict, why });
    recorder?.passed(plan, verdict, row, isHandedOn);
  };
}
