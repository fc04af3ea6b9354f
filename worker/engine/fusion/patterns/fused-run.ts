import { SharedClosureLog } from './shared-closure-log.ts';

/** What a run is found by: a value that its events have, or the runs of its partition. */
export type RunIndexKey = string | number | boolean | RunLists | null;

/**
 * A partial match as generated code has it: one class for each pattern, with what later steps and the match read of the
 * events in fields of its own (`x0`, `x1`, ..).
 */
export interface FusedRun {
  /** Where it stands; -1 when it is over. */
  state: number;
  /** Where it waits in its state: a value, or the lists of its partition; null = it fits no event. */
  indexKey: RunIndexKey;
  /** The partition's key, as one value. */
  readonly key: string | number | boolean | null;
  /** Position of its first event among all that the pattern received. */
  readonly began: number;
  /** Time of its first event. */
  readonly first: number;
  /** Last event time that the pattern's `within` allows. */
  readonly last: number;
  /** Time of its last event, where that matters. */
  base?: number;
  /** Position of its last event, where that matters. */
  lastAt?: number;
  /** Where time wakes runs: as `WakingRuns` has them. */
  wake: number;
  queued: number;
  /** How many of the events that the runs of its list have taken together it knows of. */
  seen?: number;
  /** All open runs, in order of creation. */
  before: FusedRun | null;
  after: FusedRun | null;
  /** Those of one list, in order of beginning: the first one's `previous` is the last one, the last one's `next` is null. */
  previous: FusedRun | null;
  next: FusedRun | null;
}

/** A list with one more run. Gives its first one. */
export function withRun(head: FusedRun | null, run: FusedRun): FusedRun {
  run.next = null;
  run.previous = run;
  if (head === null) return run;
  const tail = head.previous as FusedRun;
  if (tail.began > run.began) return withEarlierRun(head, run);
  tail.next = run;
  run.previous = tail;
  head.previous = run;
  return head;
}

function withEarlierRun(head: FusedRun, run: FusedRun): FusedRun {
  let behind = head.previous as FusedRun;
  while (behind !== head && (behind.previous as FusedRun).began > run.began) behind = behind.previous as FusedRun;
  run.next = behind;
  run.previous = behind.previous;
  behind.previous = run;
  if (behind === head) return run;
  (run.previous as FusedRun).next = run;
  return head;
}

/** A list without one of its runs. Gives its first one; null when nothing is left. */
export function withoutRun(head: FusedRun, run: FusedRun): FusedRun | null {
  const { next } = run;
  const previous = run.previous as FusedRun;
  run.next = null;
  run.previous = null;
  if (run === head) {
    if (next !== null) next.previous = previous;
    return next;
  }
  previous.next = next;
  (next ?? head).previous = previous;
  return head;
}

/** The runs of one partition: a list for each state. */
export class RunLists {
  readonly heads: (FusedRun | null)[];
  /** By state: what its runs take together; null where each takes for itself. */
  readonly shared: readonly (SharedClosureLog | null)[];

  /** `sharedSlots`: by state, as the kernel's form has them. */
  constructor(sharedSlots: readonly (number | null)[]) {
    this.heads = sharedSlots.map(() => null);
    this.shared = sharedSlots.map((slot) => (slot === null ? null : new SharedClosureLog()));
  }

  add(state: number, run: FusedRun): void {
    this.heads[state] = withRun(this.heads[state] as FusedRun | null, run);
  }

  remove(state: number, run: FusedRun): void {
    this.heads[state] = withoutRun(this.heads[state] as FusedRun, run);
  }

  get isEmpty(): boolean {
    return this.heads.every((head) => head === null);
  }
}
