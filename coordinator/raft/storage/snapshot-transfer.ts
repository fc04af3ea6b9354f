import { crc32c } from '../../../shared/checksum/crc32c.ts';
import { invariant } from '../../../shared/errors/error.ts';
import type { NodeId, Term } from '../core/messages.ts';
import { encodeManifest, type Manifest } from './codec.ts';

/** A part of a snapshot on its way from a leader. */
export interface SnapshotChunk {
  readonly from: NodeId;
  /** Of the leader. */
  readonly term: Term;
  readonly manifest: Manifest;
  readonly offset: number;
  readonly bytes: Uint8Array;
}

/** The part of a snapshot from `offset` on. The one who asks says how far it has come, so that nothing is sent twice after a break. */
export function chunkAt(
  sender: { readonly from: NodeId; readonly term: Term },
  manifest: Manifest,
  state: Uint8Array,
  offset: number,
  bytesMax: number,
): SnapshotChunk {
  invariant(offset <= state.length && state.length === manifest.size, `a snapshot of ${state.length} bytes has nothing at ${offset}`);
  return { ...sender, manifest, offset, bytes: state.subarray(offset, offset + bytesMax) };
}

/** Puts together one snapshot at a time; one of a later leader, or a later one of the same, replaces it. */
export class SnapshotReceiver {
  #manifest: Manifest | undefined;
  #term: Term = 0;
  #bytes = new Uint8Array(0);
  #received = 0;
  /** Of what was received. */
  #checksum = 0;
  /** All of it has come: it is on its way to the disk, or there. */
  #whole: 'no' | 'written' | 'kept' = 'no';

  /**
   * The offset to go on from, and the whole state when this completes it. A part that does not follow what is there is left alone; bytes
   * whose sum is wrong are thrown away, and the transfer begins anew. A last part that is sent again, since its answer waits for the disk,
   * or was lost, brings nothing new: it is answered with its own offset, and once all is durable with the end.
   */
  receive({ manifest, term, offset, bytes }: SnapshotChunk): { readonly next: number; readonly complete: Uint8Array | undefined } {
    const isLater = term > this.#term || (term === this.#term && this.#manifest !== undefined && manifest.index > this.#manifest.index);
    if (this.#manifest === undefined || isLater) this.#begin(manifest, term);
    const isKnown = isSame(manifest, this.#manifest as Manifest);
    if (isKnown && this.#whole !== 'no') return { next: this.#whole === 'kept' ? manifest.size : offset, complete: undefined };
    if (!isKnown || offset !== this.#received) return { next: this.#received, complete: undefined };
    const part = bytes.subarray(0, manifest.size - this.#received);
    this.#bytes.set(part, this.#received);
    this.#received += part.length;
    this.#checksum = crc32c(part, this.#checksum);
    if (this.#received < manifest.size) return { next: this.#received, complete: undefined };
    const whole = this.#bytes;
    this.#bytes = new Uint8Array(0);
    const isRight = this.#checksum === manifest.checksum;
    if (isRight) this.#whole = 'written';
    else this.#manifest = undefined;
    return isRight ? { next: manifest.size, complete: whole } : { next: 0, complete: undefined };
  }

  /** What `receive` completed is durable. */
  kept(manifest: Manifest): void {
    if (this.#whole === 'written' && isSame(manifest, this.#manifest as Manifest)) this.#whole = 'kept';
  }

  #begin(manifest: Manifest, term: Term): void {
    this.#manifest = manifest;
    this.#term = term;
    this.#bytes = new Uint8Array(manifest.size);
    this.#received = 0;
    this.#checksum = 0;
    this.#whole = 'no';
  }
}

function isSame(one: Manifest, other: Manifest): boolean {
  const [a, b] = [encodeManifest(one), encodeManifest(other)];
  return a.length === b.length && a.every((byte, at) => byte === b[at]);
}
