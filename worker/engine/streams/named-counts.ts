import { limits } from '../../../shared/limits.ts';

/** Counts by names that whoever sends events makes up: so many of them, none of them long. What has another name counts as `rest`, or not at all. */
export class NamedCounts {
  #counts = new Map<string, number>();
  readonly #namesMax: number;
  readonly #rest: string | undefined;

  constructor(namesMax: number, rest?: string) {
    this.#namesMax = namesMax;
    this.#rest = rest;
  }

  /** In the order in which the names first came. */
  get all(): ReadonlyMap<string, number> {
    return this.#counts;
  }

  add(name: string, more = 1): void {
    const known = this.#counts.get(name);
    if (known !== undefined || this.#hasRoomFor(name)) this.#counts.set(name, (known ?? 0) + more);
    else if (this.#rest !== undefined) this.#counts.set(this.#rest, (this.#counts.get(this.#rest) ?? 0) + more);
  }

  /** What was saved may be anybody's: it is bounded in the same way. */
  load(saved: Iterable<readonly [name: string, count: number]>): void {
    this.#counts = new Map();
    for (const [name, count] of saved) this.add(name, count);
  }

  #hasRoomFor(name: string): boolean {
    const hasRest = this.#rest !== undefined && this.#counts.has(this.#rest);
    return isCountedByName(name) && this.#counts.size - (hasRest ? 1 : 0) < this.#namesMax;
  }
}

export function isCountedByName(name: string): boolean {
  return name.length <= limits.countedNameCharsMax;
}
