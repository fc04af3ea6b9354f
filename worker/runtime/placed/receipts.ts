import { CepError } from '../../../shared/errors/error.ts';
import type { SourcePosition } from '../../connectors/connector.ts';
import type { SourcePositions } from '../pipelines/runtime-storage.ts';
import { COMPACT_RECEIPTS_FORMAT, type SavedReceipt, type SavedReceipts } from './placed-state.ts';
import { ReceivedIds, type Unrepeated } from './received-ids.ts';

/** What marks the sources of batches among the subscriptions of connectors: no name of a connector has it. */
const prefix = 'from:';

/** A batch that is there for the first time. */
export interface Receipt {
  readonly source: string;
  readonly sequence: number;
  /** When its events arrive that have no time of their own, epoch ms. */
  readonly time: number;
  /** The clock was ahead of it, here and now. */
  readonly isMoved?: boolean;
}

/** A batch as it comes in. */
export interface ArrivedBatch {
  readonly sequence: number;
  readonly receivedAt: number;
  /** Of all its events, also those that have been here before. */
  readonly ids: readonly string[];
  /** As its sender says; undefined of one that does not. */
  readonly unrepeated?: Unrepeated | undefined;
}

interface SourceReceipts {
  /** Of the placement that sends; the newest seen. */
  epoch: number;
  /** The last batch that was taken in. */
  accepted: number;
  time: number;
  readonly ids: ReceivedIds;
}

/**
 * What a placed pipeline has received in batches: from the coordinators what was injected, from other placements what they have made.
 * Batches of a source come in its order, each once. A placement that goes on elsewhere numbers what it sends again from here on, so its
 * events are known by their ids too.
 */
export class Receipts {
  readonly #sources = new Map<string, SourceReceipts>();

  constructor(saved: SavedReceipts = {}, positions: SourcePositions = {}) {
    for (const [id, position] of Object.entries(positions)) {
      if (!id.startsWith(prefix)) continue;
      const source = id.slice(prefix.length);
      const { epoch = 0, ...ids } = saved[source] ?? {};
      const { sequence, time } = position as { readonly sequence: number; readonly time: number };
      this.#sources.set(source, { epoch, accepted: sequence, time, ids: ReceivedIds.load(source, ids) });
    }
  }

  /** @throws CepError `stale_epoch` when a newer one of the source has been here */
  meet(source: string, epoch: number): void {
    const known = this.#of(source);
    if (epoch < known.epoch) {
      throw new CepError('stale_epoch', `'${source}' has epoch ${known.epoch} by now: what it sends under ${epoch} is not taken`);
    }
    known.epoch = epoch;
  }

  /** The last batch of the source that was taken in. */
  accepted(source: string): number {
    return this.#sources.get(source)?.accepted ?? 0;
  }

  /** When the last batch of the source arrived that was taken in, epoch ms; undefined when none was. */
  time(source: string): number | undefined {
    return this.#sources.get(source)?.time || undefined;
  }

  /**
   * Takes note of the batch that follows; its events arrive no earlier than those before.
   * @throws CepError `sequence_gap` when another one would follow
   */
  accept(source: string, { sequence, receivedAt, ids, unrepeated }: ArrivedBatch): Receipt {
    const known = this.#of(source);
    if (sequence !== known.accepted + 1) {
      throw new CepError('sequence_gap', `found batch ${sequence} of '${source}', expected ${known.accepted + 1}`, {
        hint: 'send what follows the last one that was received',
        details: { expected: known.accepted + 1 },
      });
    }
    known.accepted = sequence;
    known.time = Math.max(known.time, receivedAt);
    known.ids.add(sequence, ids, unrepeated);
    return { source, sequence, time: known.time };
  }

  /** An event of the source with this id has been here. */
  isKnown(source: string, id: string): boolean {
    return this.#sources.get(source)?.ids.has(id) ?? false;
  }

  #of(source: string): SourceReceipts {
    let known = this.#sources.get(source);
    if (known === undefined) {
      known = { epoch: 0, accepted: 0, time: 0, ids: new ReceivedIds(source) };
      this.#sources.set(source, known);
    }
    return known;
  }

  /** What belongs to a state in which the sources stand so, as a format of states has it. */
  save(positions: SourcePositions, format: number): SavedReceipts {
    const through = receivedOf(positions);
    const entries = Array.from(this.#sources, ([source, { epoch, ids }]): readonly [string, SavedReceipt] => {
      const upTo = through[source] ?? 0;
      return [source, { epoch, ...(format < COMPACT_RECEIPTS_FORMAT ? { ids: ids.saveWhole(upTo) } : { batches: ids.save(upTo) }) }];
    });
    return Object.fromEntries(entries);
  }
}

/** The mark of a batch among those of sources. */
export function markOf({ source, sequence, time }: Receipt): { readonly id: string; readonly position: SourcePosition } {
  return { id: prefix + source, position: { sequence, time } };
}

/** How far each source of batches is, by what is known of all sources. */
export function receivedOf(positions: SourcePositions): Readonly<Record<string, number>> {
  const batches = Object.entries(positions).filter(([id]) => id.startsWith(prefix));
  return Object.fromEntries(batches.map(([id, position]) => [id.slice(prefix.length), position['sequence'] as number]));
}
