import type { InputPlan, Plan, SourcePlan, StreamPlan } from '../../../shared/language/plan/plan.ts';
import type { RecordType } from '../../../shared/language/plan/types.ts';
import { DeadlineQueue } from '../time/deadline-queue.ts';

/** Everything a stream reads, in written order; a timer reads nothing. */
export function inputsOf(source: SourcePlan): readonly InputPlan[] {
  switch (source.kind) {
    case 'events':
      return source.inputs;
    case 'pattern':
      return [...source.pattern.steps, ...source.pattern.cancels].map((step) => step.input);
    case 'join':
      return source.sides.map((side) => side.input);
    case 'timer':
      return [];
  }
}

/** What the outputs of a stream go into; null = as far as is known, nothing but what an `.emit as T` says. */
export function outputTypeOf({ declaredType, resultType }: StreamPlan): RecordType | null {
  return declaredType ?? (resultType.kind === 'record' ? resultType : null);
}

/** Indexes of the streams whose results, late events or branches a stream reads. */
export function upstreamOf(stream: StreamPlan): readonly number[] {
  const inputs = inputsOf(stream.source);
  if (inputs.every(({ from }) => from.kind === 'event')) return NONE;
  return inputs.flatMap(({ from }) => (from.kind === 'event' ? [] : [from.stream]));
}

const NONE: readonly never[] = [];

/** Stream indexes upstream first: again and again the first declared stream whose sources are all through. */
export function upstreamFirst(plan: Plan): readonly number[] {
  if (plan.streams.every((stream) => upstreamOf(stream) === NONE)) return plan.streams.map((_, index) => index);
  const followers: number[][] = plan.streams.map(() => []);
  const waitsFor = plan.streams.map((stream, index) => {
    const upstream = new Set(upstreamOf(stream));
    for (const source of upstream) followers[source]?.push(index);
    return upstream.size;
  });
  const ready = new DeadlineQueue<number>();
  const makeReady = (index: number): void => ready.push(index, 0, index);
  waitsFor.forEach((count, index) => {
    if (count === 0) makeReady(index);
  });
  const order: number[] = [];
  for (let next = ready.popDue(Infinity); next !== undefined; next = ready.popDue(Infinity)) {
    order.push(next);
    for (const follower of followers[next] ?? []) {
      const left = (waitsFor[follower] ?? 0) - 1;
      waitsFor[follower] = left;
      if (left === 0) makeReady(follower);
    }
  }
  return order;
}
