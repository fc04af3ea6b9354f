import type { Value, ValueArray } from '../../../../shared/events/value.ts';
import { Gaps } from './arrivals.ts';

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

  load(saved: Value): void {
    const [gaps, context, followed] = saved as ValueArray;
    this.gaps.load(gaps as Value);
    this.context = context as readonly number[];
    for (const one of followed as ValueArray) {
      const [name, began, at, isForecast, probe] = one as readonly [string, number, number, boolean, readonly [number, number] | null];
      this.followed.set(name, { began, at, isForecast, probe: probe && { bin: probe[0], until: probe[1] } });
    }
  }
}
