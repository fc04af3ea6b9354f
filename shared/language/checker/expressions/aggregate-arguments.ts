import type { Value } from '../../../events/value.ts';
import type { Argument, Span } from '../../ast/nodes.ts';
import type { AggregateDescriptor } from '../../functions/descriptor.ts';
import { ANY, isAssignable, printType, type Type } from '../../plan/types.ts';
import type { CheckContext } from '../context.ts';
import { acceptedTypes } from './accepted.ts';
import { isResolved } from './fold.ts';
import type { Place } from './place.ts';

/** An argument of an aggregate that must be known before the program runs. */
export interface ConstantArgument {
  /** Undefined when it is not constant. */
  readonly value: Value | undefined;
  /** It could not be resolved, which has been reported. */
  readonly isWrong: boolean;
  readonly type: Type;
  readonly span: Span;
}

export function splitConstants(args: readonly Argument[], place: Place): ConstantArgument[] {
  return args.map(({ value, span }) => {
    if (value.kind === 'Chain' || value.kind === 'StepArgument' || value.kind === 'PatternArgument') {
      return { value: undefined, isWrong: true, type: ANY, span };
    }
    const lowered = place.lower(value);
    const known = lowered.kind === 'constant' ? lowered.value : undefined;
    return { value: known, isWrong: !isResolved(lowered), type: lowered.type, span };
  });
}

interface AggregateArguments {
  readonly name: string;
  readonly aggregate: AggregateDescriptor;
  readonly span: Span;
  /** Of the arguments evaluated on each event. */
  readonly types: readonly Type[];
  readonly constants: readonly ConstantArgument[];
}

/** E071 for their number, E072 for their types and for what should be constant. */
export function reportArguments({ name, aggregate, span, types, constants }: AggregateArguments, context: CheckContext): void {
  const given = types.length + constants.length;
  const required = aggregate.parameters.filter((parameter) => !parameter.optional).length;
  if (given < required || given > aggregate.parameters.length) {
    const wanted = required === aggregate.parameters.length ? `${required}` : `${required} to ${aggregate.parameters.length}`;
    context.report('E071', span, `\`${name}\` takes ${wanted} argument${wanted === '1' ? '' : 's'}, not ${given}`);
    return;
  }
  [...types, ...constants.map((constant) => constant.type)].forEach((type, position) => {
    const parameter = aggregate.parameters[position];
    if (!parameter || parameter.types.some((accepted) => isAssignable(type, accepted))) return;
    context.report('E072', span, `\`${name}\` takes ${acceptedTypes(parameter)} as \`${parameter.name}\`, not ${printType(type)}`);
  });
  reportConstants({ name, aggregate, span, types, constants }, context);
}

function reportConstants({ name, aggregate, span, constants }: AggregateArguments, context: CheckContext): void {
  if (constants.some((constant) => constant.isWrong)) return;
  const open = constants.find((constant) => constant.value === undefined);
  if (open) {
    context.report('E072', open.span, `this argument of \`${name}\` must be known before the program runs`);
    return;
  }
  const problem = constants.length > 0 ? aggregate.checkConstants?.(constants.map(({ value }) => value ?? null)) : undefined;
  if (problem) context.report('E072', span, problem);
}
