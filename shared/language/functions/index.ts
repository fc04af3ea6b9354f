import type { Type } from '../plan/types.ts';
import { collectionFunctions } from './collection.ts';
import { conversionFunctions } from './conversion.ts';
import type { FunctionDescriptor } from './descriptor.ts';
import { geoFunctions } from './geo.ts';
import { hashingFunctions } from './hashing.ts';
import { mathFunctions } from './math.ts';
import { networkFunctions } from './network.ts';
import { stringFunctions } from './string.ts';
import { timeFunctions } from './time.ts';

export { aggregateList, aggregateOver, aggregates } from './aggregates/index.ts';
export { refusedFunctions } from './refused.ts';

/** Every function of the language, in the order in which the docs list them. */
export const functionList: readonly FunctionDescriptor[] = [
  ...mathFunctions,
  ...stringFunctions,
  ...collectionFunctions,
  ...timeFunctions,
  ...conversionFunctions,
  ...hashingFunctions,
  ...geoFunctions,
  ...networkFunctions,
];

/** Every function of the language by its name and its aliases. */
export const functions: ReadonlyMap<string, FunctionDescriptor> = new Map(
  functionList.flatMap((descriptor) => [descriptor.name, ...(descriptor.aliases ?? [])].map((name) => [name, descriptor] as const)),
);

/** What runs a call of a function whose first argument is of this type. */
export function functionOver(name: string, argument: Type | undefined): FunctionDescriptor | undefined {
  const descriptor = functions.get(name);
  const isOfDurations = argument?.kind === 'array' && argument.item.kind === 'duration';
  return isOfDurations ? (descriptor?.ofDurations ?? descriptor) : descriptor;
}
