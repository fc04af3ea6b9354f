import type { Resume } from '../../engine/engine.ts';
import { CollectedNotes } from '../programs/event-notes.ts';
import type { RecordOutcome } from './record-outcome.ts';

/** What one input has an engine do, also later, when rows of it have waited for answers. */
export class EngineInput {
  #outcome: RecordOutcome | undefined;
  /** What came before it had an outcome. */
  #loose: ((outcome: RecordOutcome) => void)[] = [];
  readonly notes = new CollectedNotes(0);
  /** Events that were late for some stream. */
  late = 0;
  /** Events that were given the time at which they arrived. */
  untimed = 0;
  /** Where event time stood behind its events, epoch ms. */
  time: number | null = null;
  /** Something was looked up for it. */
  isLookedUp = false;
  /** What waits of it. */
  #waiting = 0;

  get outcome(): RecordOutcome | undefined {
    return this.#outcome;
  }

  get isWaiting(): boolean {
    return this.#waiting > 0;
  }

  begin(outcome: RecordOutcome): void {
    this.#outcome = outcome;
    for (const say of this.#loose.splice(0)) say(outcome);
  }

  say(what: (outcome: RecordOutcome) => void): void {
    if (this.#outcome === undefined) this.#loose.push(what);
    else what(this.#outcome);
  }

  /** Something of it begins to wait. `within`: does something as this input. */
  suspend(within: (goOn: () => void) => void): Resume {
    this.#waiting++;
    return (goOn) => {
      try {
        within(goOn);
      } finally {
        this.#waiting--;
      }
    };
  }
}
