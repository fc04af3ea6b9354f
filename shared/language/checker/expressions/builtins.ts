import { aggregates } from '../../functions/aggregates/index.ts';
import type { AggregateDescriptor, FunctionDescriptor } from '../../functions/descriptor.ts';
import { functions } from '../../functions/index.ts';

/** A function of the language by its name or an alias. */
export function findFunction(name: string): FunctionDescriptor | undefined {
  return functions.get(name);
}

export function findAggregate(name: string): AggregateDescriptor | undefined {
  return aggregates.get(name);
}

export function functionNames(): string[] {
  return [...functions.keys()];
}

export function aggregateNames(): string[] {
  return [...aggregates.keys()];
}
