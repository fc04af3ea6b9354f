import { checkLinearizable, type Invocation } from '../linearizability/checker.ts';

/** A write that was acknowledged, by the clock of the clients in milliseconds. */
export interface Acknowledgement {
  /** When the request that was answered was sent: the last one, where it took several. */
  readonly sentAt: number;
  readonly at: number;
}

/** What clients saw while leaders were killed. A register is a connector: 0 while it does not exist, else the number in its description. */
export interface Recording {
  readonly history: readonly Invocation[];
  readonly acknowledgements: readonly Acknowledgement[];
  /** When leaders were killed, in ascending order. */
  readonly kills: readonly number[];
  /** Read with strong consistency after all clients had ended, by key. Keys that were written and are missing here count as lost. */
  readonly last: ReadonlyMap<string, number>;
}

export interface Report {
  readonly kills: number;
  readonly writes: number;
  readonly reads: number;
  readonly unknown: number;
  /** Milliseconds around each kill in which no write was acknowledged that was sent after it; ascending. */
  readonly gapsMs: readonly number[];
  /** Keys whose last value is that of no write that may have been the last one. */
  readonly lost: readonly string[];
  readonly verdict: 'linearizable' | `${'violation' | 'unknown'} at ${string}`;
}

export function audit({ history, acknowledgements, kills, last }: Recording): Report {
  const answered = history.filter(({ returnedAt }) => returnedAt !== undefined);
  const reads = answered.filter(({ operation }) => operation.kind === 'read').length;
  const verdict = checkLinearizable(history);
  return {
    kills: kills.length,
    writes: acknowledgements.length,
    reads,
    unknown: history.length - answered.length,
    gapsMs: gapsAround(kills, acknowledgements),
    lost: lostKeys(history, last),
    verdict: verdict.kind === 'linearizable' ? verdict.kind : `${verdict.kind} at ${verdict.key}`,
  };
}

/** From the last acknowledgement before a kill to the first of a write that was sent after it; infinite when there was none. */
function gapsAround(kills: readonly number[], acknowledgements: readonly Acknowledgement[]): number[] {
  const gaps = kills.map((kill) => {
    const before = acknowledgements.reduce((latest, { at }) => (at <= kill ? Math.max(latest, at) : latest), -Infinity);
    const after = acknowledgements.reduce((first, { sentAt, at }) => (sentAt > kill ? Math.min(first, at) : first), Infinity);
    return after - before;
  });
  return gaps.sort((a, b) => a - b);
}

/**
 * A key is lost when its last value comes neither from an acknowledged write that no other acknowledged one certainly followed, nor from
 * one whose client was not told. This needs no search, and says what the verdict of the checker does not: which promise was broken.
 */
function lostKeys(history: readonly Invocation[], last: ReadonlyMap<string, number>): string[] {
  const byKey = new Map<string, Invocation[]>();
  for (const invocation of history) {
    const { operation, key, returnedAt } = invocation;
    const hasEffect = operation.kind !== 'read' && (operation.kind === 'write' || operation.result !== false || returnedAt === undefined);
    if (!byKey.has(key)) byKey.set(key, []);
    if (hasEffect) byKey.get(key)?.push(invocation);
  }
  return [...byKey].filter(([key, writes]) => !mayBeLast(writes, last.get(key))).map(([key]) => key);
}

function mayBeLast(writes: readonly Invocation[], found: number | undefined): boolean {
  const acknowledged = writes.filter(({ returnedAt }) => returnedAt !== undefined);
  const lastCall = Math.max(...acknowledged.map(({ calledAt }) => calledAt));
  if (found === 0 && acknowledged.length === 0) return true;
  return writes.some(
    ({ operation, returnedAt }) => operation.kind !== 'read' && operation.value === found && (returnedAt ?? Infinity) >= lastCall,
  );
}

/** The value below which the given share of the sorted ones lies (nearest rank); 0 of none. */
export function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
}

/** Whether nothing was lost and the order of everything was found. */
export function isClean({ lost, verdict }: Report): boolean {
  return lost.length === 0 && verdict === 'linearizable';
}
