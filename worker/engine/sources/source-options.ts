import type { Next, OperatorEnvironment } from '../operators/operator.ts';
import type { PatternObserver } from '../patterns/observer.ts';
import type { MakeLink } from '../streams/chain.ts';
import type { ConditionReader } from '../trace/condition.ts';
import type { ExplainRecorder } from '../trace/explain-recorder.ts';

/** What the head of a stream is made with. */
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
  readonly recorder: ExplainRecorder | null;
  /** What explanations evaluate conditions with. */
  readonly conditions: ConditionReader;
}
