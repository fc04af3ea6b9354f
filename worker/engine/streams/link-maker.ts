import type { Operator } from '../operators/operator.ts';
import { createOperator, isHoldingBack } from '../operators/registry.ts';
import { TracedOperator } from '../trace/traced-operator.ts';
import type { MakeLink } from './chain.ts';
import { OperatorContext } from './operator-context.ts';
import type { StreamRuntime } from './stream-runtime.ts';

/** Makes the operators of a stream's chains; traced ones when the host traces. */
export function linkMaker(stream: StreamRuntime): MakeLink {
  const tracer = stream.program.host.trace;
  const makeLink: MakeLink = (plan, next) => {
    const context = new OperatorContext(stream, plan, makeLink);
    const create = (target: typeof next): Operator => createOperator(plan, target, context);
    const operator =
      tracer === undefined
        ? create(next)
        : new TracedOperator({ plan, next, environment: context, tracer, holdsBack: isHoldingBack(plan), create });
    return {
      plan,
      operator,
      reach: (watermark) => context.reach(watermark),
      fail: (error, row) => context.fail(error, row, plan),
    };
  };
  return makeLink;
}
