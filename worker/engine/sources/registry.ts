import type { StreamPlan } from '../../../shared/language/plan/plan.ts';
import type { Next, OperatorEnvironment } from '../operators/operator.ts';
import type { PatternObserver } from '../patterns/observer.ts';
import type { MakeLink } from '../streams/chain.ts';
import type { ConditionReader } from '../trace/condition.ts';
import type { StreamWitness } from '../trace/witness.ts';
import { EventsSource } from './events-source.ts';
import { JoinSource } from './join-source.ts';
import { PatternSource } from './pattern-source.ts';
import type { Source } from './source.ts';
import { TimerSource } from './timer-source.ts';
import { TrendSource } from './trend-source.ts';

export interface SourceOptions {
  readonly environment: OperatorEnvironment;
  readonly next: Next;
  /** For the operators of single inputs. */
  readonly makeLink: MakeLink;
  /** Arrival number of the last external event. */
  readonly order: () => number;
  /** What wants to know what a pattern sees. */
  readonly observer: PatternObserver | null;
  /** What remembers the rows that come; null unless the program is to explain itself. */
  readonly witness: StreamWitness | null;
  /** What explanations evaluate conditions with. */
  readonly conditions: ConditionReader;
}

/** Makes the head of a stream. Total over the kinds of sources. */
export function createSource(
  stream: StreamPlan,
  { environment, next, makeLink, order, observer, witness, conditions }: SourceOptions,
): Source {
  const { source } = stream;
  switch (source.kind) {
    case 'events':
      return new EventsSource(source, next, makeLink);
    case 'timer':
      return new TimerSource(source, environment, next, order);
    case 'join':
      return new JoinSource(source, { environment, next, makeLink, witness, conditions });
    case 'pattern': {
      const [first] = stream.operators;
      if (first?.kind === 'trend_aggregate') return new TrendSource(source.pattern, first, next, environment);
      return new PatternSource(source.pattern, { environment, next, makeLink, observer, witness, conditions });
    }
  }
}
