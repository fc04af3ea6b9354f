import type { WorkerProcess } from '../liveness/process-map.ts';
import type { Action } from './action.ts';

/** Actions that have begun and not ended: of those with one key, one at a time. */
export class UnderWay {
  readonly #byKey = new Map<string, Action>();

  get size(): number {
    return this.#byKey.size;
  }

  count(kind: Action['kind']): number {
    let count = 0;
    for (const action of this.#byKey.values()) if (action.kind === kind) count++;
    return count;
  }

  has(key: string): boolean {
    return this.#byKey.has(key);
  }

  isUnderWay(key: string, kind: Action['kind']): boolean {
    return this.#byKey.get(key)?.kind === kind;
  }

  /** Gives what is to be called when it has ended. */
  begin(action: Action): () => void {
    this.#byKey.set(action.key, action);
    return () => {
      // Where it was not waited for any more another one may have its place.
      if (this.#byKey.get(action.key) === action) this.#byKey.delete(action.key);
    };
  }

  /** What was asked of a process that is lost is not waited for: its answer would come too late, and what it had is to go on elsewhere. */
  giveUp(isLost: (process: WorkerProcess) => boolean): void {
    for (const [key, action] of this.#byKey) {
      const asked = askedBy(action);
      if (asked && isLost(asked)) this.#byKey.delete(key);
    }
  }
}

function askedBy(action: Action): WorkerProcess | undefined {
  if (action.kind === 'propose') return undefined;
  return action.kind === 'stop' ? { id: action.holder.workerId, incarnation: action.holder.incarnation } : action.worker;
}
