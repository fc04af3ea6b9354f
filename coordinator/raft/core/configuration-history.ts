import { invariant } from '../../../shared/errors/error.ts';
import { changed, decodeChange } from './configuration.ts';
import type { Configuration, Entry, Index, SnapshotMeta } from './messages.ts';

/**
 * The configurations of a log, from that of its snapshot on. A change holds from the moment its entry is in the log, committed or not
 * (dissertation §4.1), and no longer when the entry is removed: which configuration is in force follows from the log alone, so that a
 * node that has forgotten its commit index counts by the same majorities as before.
 *
 * Invariant: never empty, the indexes rise, and at most the last but one and the last are needed for what is not committed.
 */
export class ConfigurationHistory {
  #known: { readonly index: Index; readonly configuration: Configuration }[];

  constructor({ index, configuration }: SnapshotMeta) {
    this.#known = [{ index, configuration }];
  }

  get current(): Configuration {
    return (this.#known.at(-1) as { configuration: Configuration }).configuration;
  }

  /** Where the one in force begins. */
  get currentIndex(): Index {
    return (this.#known.at(-1) as { index: Index }).index;
  }

  /** The one that the one in force replaced, if the log still tells. */
  get previous(): Configuration | undefined {
    return this.#known.at(-2)?.configuration;
  }

  /** The one in force for a log that ends at `index`. */
  at(index: Index): Configuration {
    const found = this.#known.findLast((known) => known.index <= index);
    invariant(found !== undefined, `the configuration at ${index} is behind a snapshot`);
    return found.configuration;
  }

  appended(entries: readonly Entry[]): void {
    for (const { index, kind, data } of entries) {
      invariant(index > this.currentIndex, () => `entry ${index} is appended before a configuration that is known`);
      if (kind === 'configuration') this.#known.push({ index, configuration: changed(this.current, decodeChange(data)) });
    }
  }

  truncatedFrom(index: Index): void {
    while (this.currentIndex >= index) this.#known.pop();
    invariant(this.#known.length > 0, 'the configuration of the snapshot is removed');
  }

  compactedTo(index: Index): void {
    const first = this.#known.findLastIndex((known) => known.index <= index);
    if (first > 0) this.#known = this.#known.slice(first);
  }
}
