import { modelOf } from '../../../shared/language/plan/alike.ts';
import type { OperatorPlan, Plan, SourcePlan, StreamPlan, WindowOperatorPlan } from '../../../shared/language/plan/plan.ts';
import { matchLagMs } from '../patterns/match-lag.ts';
import { inputsOf } from './plan-inputs.ts';

/**
 * How far (ms) behind the watermark the rows may lie that come to an operator though the input is in order. The result of a window has the
 * time `end - 1ms` and comes when the watermark has reached `end` and the allowed lateness. A window that hands on its events, and a match
 * that waits for the end of its run, give what is older. No bound is known for the events of count windows, for sessions longer than their
 * gap and for late events: they count as if they came in time.
 */
export class ResultLags {
  readonly #plan: Plan;
  /** By stream, of its results. */
  readonly #known = new Map<number, number>();

  constructor(plan: Plan) {
    this.#plan = plan;
  }

  /** Of the rows that come to this operator of the stream, in the chain or in a branch. */
  before(stream: StreamPlan, operator: OperatorPlan): number {
    return 1 + stream.time.allowedLatenessMs + this.#through(stream, operator);
  }

  #of(index: number): number {
    let lag = this.#known.get(index);
    if (lag === undefined) {
      lag = this.#through(modelOf(this.#plan.streams[index] as StreamPlan), null);
      this.#known.set(index, lag);
    }
    return lag;
  }

  #through({ source, operators }: StreamPlan, end: OperatorPlan | null): number {
    return through(operators, this.#ofSource(source), end).lagMs;
  }

  #ofSource(source: SourcePlan): number {
    const inputs = inputsOf(source).map(({ from }) => (from.kind === 'event' ? 0 : this.#of(from.stream)));
    return Math.max(0, ...inputs) + (source.kind === 'pattern' ? matchLagMs(source.pattern) : 0);
  }
}

/** Of the rows behind these operators, or before the one that is the end. */
function through(operators: readonly OperatorPlan[], beforeMs: number, end: OperatorPlan | null): { lagMs: number; isEnded: boolean } {
  let lagMs = beforeMs;
  for (const operator of operators) {
    if (operator === end) return { lagMs, isEnded: true };
    if (operator.kind === 'window') lagMs = behindWindow(operator, lagMs);
    else if (operator.kind === 'trend_aggregate') lagMs = 0;
    else if (operator.kind === 'fork') {
      const branches = operator.branches.map((branch) => through(branch.operators, lagMs, end));
      const ended = branches.find(({ isEnded }) => isEnded);
      if (ended !== undefined) return ended;
      lagMs = Math.max(lagMs, ...branches.map((branch) => branch.lagMs));
    }
  }
  return { lagMs, isEnded: false };
}

function behindWindow({ window, aggregate }: WindowOperatorPlan, beforeMs: number): number {
  if (window.kind === 'count') return beforeMs;
  if (aggregate !== null) return 0;
  return window.kind === 'time' ? window.sizeMs : beforeMs + window.gapMs;
}
