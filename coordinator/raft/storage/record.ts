import { crc32c } from '../../../shared/checksum/crc32c.ts';
import { invariant } from '../../../shared/errors/error.ts';
import { allocate } from './slab.ts';

/** Writes whole numbers and bytes one behind another, big endian. */
export class RecordWriter {
  #bytes: Uint8Array;
  #view: DataView;
  #at = 0;

  /** With the length of the whole record, its sum included, nothing is copied. */
  constructor(lengthExpected = 64) {
    this.#bytes = allocate(lengthExpected);
    this.#view = viewOf(this.#bytes);
  }

  #reserve(length: number): number {
    const at = this.#at;
    this.#at += length;
    if (this.#at > this.#bytes.length) {
      const grown = allocate(2 * this.#at);
      grown.set(this.#bytes.subarray(0, at));
      this.#bytes = grown;
      this.#view = viewOf(grown);
    }
    return at;
  }

  u8(value: number): this {
    const at = this.#reserve(1);
    this.#view.setUint8(at, value);
    return this;
  }

  u32(value: number): this {
    const at = this.#reserve(4);
    this.#view.setUint32(at, value);
    return this;
  }

  /** Up to 2^53 - 1. */
  u64(value: number): this {
    requireWhole(value);
    return this.u32(Math.floor(value / 2 ** 32)).u32(value % 2 ** 32);
  }

  list(values: readonly number[]): this {
    this.u32(values.length);
    for (const value of values) this.u64(value);
    return this;
  }

  flag(value: boolean): this {
    return this.u8(value ? 1 : 0);
  }

  /** With their length before them. */
  bytes(bytes: Uint8Array): this {
    return this.u32(bytes.length).raw(bytes);
  }

  raw(bytes: Uint8Array): this {
    const at = this.#reserve(bytes.length);
    this.#bytes.set(bytes, at);
    return this;
  }

  /** Characters of one byte each, with their number before them. */
  ascii(text: string): this {
    this.u32(text.length);
    const at = this.#reserve(text.length);
    for (let index = 0; index < text.length; index++) this.#bytes[at + index] = text.charCodeAt(index);
    return this;
  }

  /** All of it. With `before` the sum continues that of what is thought to stand before the record. */
  sealed(before = 0): Uint8Array {
    return this.u32(crc32c(this.#bytes.subarray(0, this.#at), before)).#bytes.subarray(0, this.#at);
  }
}

/** Of what is written, up to 2^53 - 1. */
export function requireWhole(value: number): void {
  invariant(Number.isSafeInteger(value) && value >= 0, () => `${value} is no whole number that a record can hold`);
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}

/** Reads what a `RecordWriter` wrote and sealed. Throws `DamagedRecord` where there is something else. */
export class RecordReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at = 0;

  constructor(sealed: Uint8Array, before = 0) {
    const length = sealed.length - 4;
    this.#view = viewOf(sealed);
    this.#bytes = sealed;
    if (length < 0) throw new DamagedRecord(`it has ${sealed.length} bytes, and none is shorter than 4`);
    if (crc32c(sealed.subarray(0, length), before) !== this.#view.getUint32(length)) throw new DamagedRecord('its checksum does not fit');
  }

  #advance(length: number): number {
    const at = this.#at;
    this.#at += length;
    if (this.#at > this.#bytes.length - 4) throw new DamagedRecord(`it ends within what should be at ${at}`);
    return at;
  }

  u8(): number {
    return this.#view.getUint8(this.#advance(1));
  }

  u32(): number {
    return this.#view.getUint32(this.#advance(4));
  }

  u64(): number {
    const at = this.#advance(8);
    const value = this.#view.getUint32(at) * 2 ** 32 + this.#view.getUint32(at + 4);
    if (!Number.isSafeInteger(value)) throw new DamagedRecord(`the number at ${at} is too large`);
    return value;
  }

  list(): number[] {
    const count = this.u32();
    if (count > this.#bytes.length) throw new DamagedRecord(`it has a list of ${count}`);
    return Array.from({ length: count }, () => this.u64());
  }

  flag(): boolean {
    const value = this.u8();
    if (value > 1) throw new DamagedRecord(`it has ${value} where 0 or 1 belongs`);
    return value === 1;
  }

  bytes(): Uint8Array {
    const length = this.u32();
    const at = this.#advance(length);
    return this.#bytes.slice(at, at + length);
  }

  /** Throws when there is something left. */
  end(): void {
    const left = this.#bytes.length - 4 - this.#at;
    if (left !== 0) throw new DamagedRecord(`it has ${left} bytes too many`);
  }

  rest(): Uint8Array {
    return this.#bytes.slice(this.#at, this.#bytes.length - 4);
  }
}

/** Bytes that are not what was written. */
export class DamagedRecord extends Error {
  override readonly name = 'DamagedRecord';
}
