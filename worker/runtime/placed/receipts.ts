import { CepError } from '../../../shared/errors/error.ts';
import type { SourcePosition } from '../../connectors/connector.ts';
import type { SourcePositions } from '../pipelines/runtime-storage.ts';
import type { SavedReceipts } from './placed-state.ts';

/** Ids of events of one source that are remembered. */
const IDS_MAX = 65_536;
/** Restored ids that are forgotten together, as many as a batch has at most. */
const RESTORED_IDS = 500;
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

interface SourceReceipts {
  /** Of the placement that sends; the newest seen. */
  epoch: number;
  /** The last batch that was taken in. */
  accepted: number;
  time: number;
  /** By batch, oldest first. */
  readonly batches: { readonly sequence: number; readonly ids: readonly string[] }[];
  readonly ids: Set<string>;
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
      const { epoch = 0, ids = [] } = saved[source] ?? {};
      const { sequence, time } = position as { readonly sequence: number; readonly time: number };
      this.#sources.set(source, { epoch, accepted: sequence, time, batches: inBatches(sequence, ids), ids: new Set(ids) });
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
  accept(source: string, { sequence, receivedAt, ids }: { sequence: number; receivedAt: number; ids: readonly string[] }): Receipt {
    const known = this.#of(source);
    if (sequence !== known.accepted + 1) {
      throw new CepError('sequence_gap', `found batch ${sequence} of '${source}', expected ${known.accepted + 1}`, {
        hint: 'send what follows the last one that was received',
        details: { expected: known.accepted + 1 },
      });
    }
    known.accepted = sequence;
    known.time = Math.max(known.time, receivedAt);
    for (const id of ids) known.ids.add(id);
    if (ids.length > 0) known.batches.push({ sequence, ids });
    this.#forget(known);
    return { source, sequence, time: known.time };
  }

  /** An event of the source with this id has been here. */
  isKnown(source: string, id: string): boolean {
    return this.#sources.get(source)?.ids.has(id) ?? false;
  }

  #of(source: string): SourceReceipts {
    let known = this.#sources.get(source);
    if (known === undefined) {
      known = { epoch: 0, accepted: 0, time: 0, batches: [], ids: new Set() };
      this.#sources.set(source, known);
    }
    return known;
  }

  #forget({ ids, batches }: SourceReceipts): void {
    while (ids.size > IDS_MAX && batches.length > 1) for (const id of batches.shift()?.ids ?? []) ids.delete(id);
  }

  /** What belongs to a state in which the sources stand so. */
  save(positions: SourcePositions): SavedReceipts {
    const through = receivedOf(positions);
    const entries = Array.from(this.#sources, ([source, { epoch, batches }]) => {
      const upTo = through[source] ?? 0;
      return [source, { epoch, ids: batches.flatMap(({ sequence, ids }) => (sequence <= upTo ? ids : [])) }] as const;
    });
    return Object.fromEntries(entries);
  }
}

/** Which batches the ids came in is not saved: all of them are part of the state, so any of its batches will do. */
function inBatches(sequence: number, ids: readonly string[]): SourceReceipts['batches'] {
  const count = Math.ceil(ids.length / RESTORED_IDS);
  return Array.from({ length: count }, (_, at) => ({ sequence, ids: ids.slice(at * RESTORED_IDS, (at + 1) * RESTORED_IDS) }));
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
