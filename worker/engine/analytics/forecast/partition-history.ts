import type { Value } from '../../../../shared/events/value.ts';
import { countIn, flagIn, listIn, numberIn } from '../../state/saved-numbers.ts';
import { Gaps } from './arrivals.ts';
import { BINS } from './track-record.ts';

/** What a forecast remembers of an open run. */
export interface Followed {
  readonly began: number;
  /** Position of the last event that it has taken. */
  at: number;
  /** It was forecast to complete, and has not moved since. */
  isForecast: boolean;
  /** A forecast that is yet to come out: its tenth, and until when it was for. */
  probe: { readonly bin: number; readonly until: number } | null;
}

/** The recent past of one key: its last symbols, its gaps, its open runs. */
export class PartitionHistory {
  readonly gaps = new Gaps();
  /** Oldest first. */
  context: readonly number[] = [];
  followed = new Map<string, Followed>();

  save(): Value {
    const followed = [...this.followed].map(([name, { began, at, isForecast, probe }]) => [
      name,
      began,
      at,
      isForecast,
      probe && [probe.bin, probe.until],
    ]);
    return [this.gaps.save(), this.context, followed];
  }

  /** `symbols` is how many there are. */
  load(saved: Value, symbols: number): void {
    const [gaps, context, followed] = listIn(saved, 3);
    this.gaps.load(gaps as Value);
    this.context = listIn(context).map((symbol) => countIn(symbol, symbols));
    for (const one of listIn(followed)) {
      const [name, began, at, isForecast, probe] = listIn(one, 5);
      this.followed.set(String(name), {
        began: numberIn(began),
        at: numberIn(at),
        isForecast: flagIn(isForecast),
        probe: loadProbe(probe),
      });
    }
  }
}

function loadProbe(saved: Value | undefined): Followed['probe'] {
  if (saved === null) return null;
  const [bin, until] = listIn(saved, 2);
  return { bin: countIn(bin, BINS), until: numberIn(until) };
}
