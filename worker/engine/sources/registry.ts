import type { StreamPlan } from '../../../shared/language/plan/plan.ts';
import { JoinKernel } from '../joins/join-kernel.ts';
import { formOfRows } from '../patterns/trends/trend-form.ts';
import { TrendKernel } from '../patterns/trends/trend-kernel.ts';
import { EventsSource } from './events-source.ts';
import { PatternSource } from './pattern-source.ts';
import type { Source } from './source.ts';
import type { SourceOptions } from './source-options.ts';
import { TimerSource } from './timer-source.ts';

/** Makes the head of a stream. Total over the kinds of sources. */
export function createSource(
  stream: StreamPlan,
  { environment, next, makeLink, order, observer, recorder, conditions }: SourceOptions,
): Source {
  const { source } = stream;
  switch (source.kind) {
    case 'events':
      return new EventsSource(source, next, makeLink);
    case 'timer':
      return new TimerSource(source, environment, next, order);
    case 'join':
      return new JoinKernel(source, { environment, next, makeLink, recorder, conditions });
    case 'pattern': {
      const [first] = stream.operators;
      if (first?.kind === 'trend_aggregate') {
        return new TrendKernel(formOfRows(stream, source.pattern, first), { environment, next, recorder, conditions });
      }
      return new PatternSource(source.pattern, { environment, next, makeLink, observer, recorder, conditions });
    }
  }
}
