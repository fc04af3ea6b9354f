import { hash } from 'node:crypto';
import type { SavedIds } from './placed-state.ts';

/** Kept of the ids that were given; those of the time of the newest stay beyond that, up to a bound of their own. */
const KEPT = 4_096;
const KEPT_MAX = 65_536;
/** They are forgotten so many at a time: a map whose oldest entry goes with each new one looks through the places of all that have gone. */
const FORGOTTEN_TOGETHER = 1_024;
/** Of a digest: 96 bits. */
const DIGEST_CHARS = 16;

/** What two outputs must have in common to be the same. */
export interface OutputContent {
  /** What becomes of it, and for whom. */
  readonly kind: string;
  readonly stream: string;
  readonly type: string;
  /** Event time, epoch ms. */
  readonly time: number;
  readonly fieldsJson: string;
}

/**
 * Ids made of what an output says, and of how often that was said before. A pipeline that goes on elsewhere from a checkpoint gives what it
 * makes again the ids of the first time, even when its sources come in another order between each other, or the clock moves at another
 * moment: so whoever receives it twice can tell.
 */
export class ContentIds {
  readonly #first: string;
  #createdIndex: number | undefined;
  #prefix: string;
  /** By digest, those given last at the end. */
  readonly #given = new Map<string, { readonly time: number; readonly count: number }>();
  /** Time of the output that was given an id last. */
  #newest: number | undefined;

  /** `createdIndex`: of one of several placements that there have been under this name. */
  constructor(prefix: string, saved: SavedIds = [], createdIndex?: number) {
    this.#first = prefix;
    this.#createdIndex = createdIndex;
    this.#prefix = createdIndex === undefined ? prefix : `${prefix}-${createdIndex.toString(36)}`;
    for (const [digest, time, count] of saved) this.#given.set(digest, { time, count });
    this.#newest = saved.at(-1)?.[1];
  }

  get createdIndex(): number | undefined {
    return this.#createdIndex;
  }

  /** Ids that follow do not tell it from others of its name. */
  leaveOutCreation(): void {
    this.#createdIndex = undefined;
    this.#prefix = this.#first;
  }

  next({ kind, stream, type, time, fieldsJson }: OutputContent): string {
    const text = JSON.stringify([kind, stream, type, time, fieldsJson]);
    const digest = hash('sha256', text, 'base64url').slice(0, DIGEST_CHARS);
    const count = this.#given.get(digest)?.count ?? 0;
    this.#given.delete(digest);
    this.#given.set(digest, { time, count: count + 1 });
    this.#newest = time;
    if (this.#given.size >= KEPT + FORGOTTEN_TOGETHER) this.#forget();
    return count === 0 ? `${this.#prefix}-${digest}` : `${this.#prefix}-${digest}-${count.toString(36)}`;
  }

  /** What says the same says it at the same time of events, so that is what must not be forgotten. */
  #forget(): void {
    for (const [digest, { time }] of this.#given) {
      if (this.#given.size <= KEPT || (time === this.#newest && this.#given.size <= KEPT_MAX)) return;
      this.#given.delete(digest);
    }
  }

  /** Forgets nothing: whoever goes on from an earlier save must come to the same ids. */
  save(): SavedIds {
    return Array.from(this.#given, ([digest, { time, count }]) => [digest, time, count] as const);
  }
}
