import type { Plan } from '../../../shared/language/plan/plan.ts';

/**
 * By which sources the events of a type come where nobody names one, as positions in `Plan.sources`: the bindings of the type, or of the
 * nearest type that it extends and that has any; the default input for all others.
 */
export function sourcesOfTypes({ sources, events }: Plan): (type: string) => readonly number[] {
  const bound = new Map<string, number[]>();
  sources.forEach(({ eventTypes }, at) => {
    for (const type of eventTypes) bound.set(type, [...(bound.get(type) ?? []), at]);
  });
  const byType = new Map<string, readonly number[]>(bound);
  for (const { name, ancestors } of events) {
    const nearest = [name, ...ancestors].find((one) => bound.has(one));
    if (nearest !== undefined) byType.set(name, bound.get(nearest) as number[]);
  }
  return (type) => byType.get(type) ?? DEFAULT_INPUT;
}

const DEFAULT_INPUT: readonly number[] = [0];
