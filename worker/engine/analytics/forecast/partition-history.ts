import { count, countBelow, flag, list, number, orNull, record, type Saved, text } from '../../state/codec.ts';
import { Gaps, savedGaps } from './arrivals.ts';
import { BINS } from './track-record.ts';

const savedProbe = orNull(record({ bin: countBelow(BINS), until: number }));

/** `followed`: the open runs, each by a name of its own. */
export const savedHistory = record({
  gaps: savedGaps,
  context: list(count),
  followed: list(record({ name: text, began: number, at: number, isForecast: flag, probe: savedProbe })),
});

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

  save(): Saved<typeof savedHistory> {
    const followed = Array.from(this.followed, ([name, one]) => ({ name, ...one }));
    return { gaps: this.gaps.save(), context: this.context, followed };
  }

  load({ gaps, context, followed }: Saved<typeof savedHistory>): void {
    this.gaps.load(gaps);
    this.context = context;
    this.followed = new Map(followed.map(({ name, ...one }) => [name, one]));
  }
}
