import type { TextPlace } from '../fusion/event-entry.ts';
import { RecentTexts } from './recent-texts.ts';
import { firstBytes, plainBytes, special } from './text-scan.ts';

/** Makes a string of ASCII bytes; it must not keep the bytes alive. */
export type DecodeText = (bytes: Uint8Array, start: number, end: number) => string;

const QUOTE = 34;
const LENGTH_MAX = 64;
const TEXTS_MAX = 131_072;
const POOL_WORDS_MAX = 1_048_576;
const SLOTS_MIN = 1024;
const POOL_WORDS_MIN = 4096;
/** Words of an entry in front of its text: hash, length, and twice its place among the texts, plus one when it is internalized. */
const HEAD_WORDS = 3;
const ENTRY_WORDS_MAX = HEAD_WORDS + LENGTH_MAX / 4 + 1;
const MULTIPLIER = -0x61c8864f;
/** Keys are known by their places; only this many texts are worth internalizing for them, for what else reads them. */
const INTERNALIZED_KEYS_MAX = 1024;

/** A field must find this share of its texts in the table to be worth its room. */
const HIT_SHARE_MIN = 0.5;
const JUDGED_LOOKUPS_MIN = 4096;
const PAUSE_LOOKUPS_MIN = 1 << 20;
const PAUSE_LOOKUPS_MAX = 1 << 29;

/**
 * Turns pieces of text in bytes into strings, of which each is made once: equal texts are then mostly the same string, with
 * its hash known. Texts that come again are internalized, so comparing them with each other and with constants compares
 * pointers.
 *
 * Bounded: at most 131,072 texts of at most 64 bytes, and 4 MiB of their bytes; a full table begins anew. A field that
 * seldom finds its texts then leaves the table alone for a while, longer each time, and costs no more than a slice.
 */
export class TextTable {
  readonly decode: DecodeText;
  private readonly fields = new Map<object, TextField>();
  private bits = Math.log2(SLOTS_MIN);
  private slots = new Int32Array(SLOTS_MIN);
  private pool = new Int32Array(POOL_WORDS_MIN);
  private used = 1;
  private texts: string[] = [];

  constructor(decode: DecodeText) {
    this.decode = decode;
  }

  /** Texts that are kept. */
  get size(): number {
    return this.texts.length;
  }

  /** The reader for the texts of one field, which any object may stand for. `isKey`: their places are asked for. */
  fieldOf(key: object, isKey = false): TextField {
    let field = this.fields.get(key);
    if (field === undefined) {
      field = new TextField(this, this.texts, isKey);
      this.fields.set(key, field);
    }
    return field;
  }

  /** The entry for the bytes from `start` to `end`; `last` are those behind the last whole word. 0 when they are not kept. */
  find(words: DataView, start: number, end: number, hash: number, last: number): number {
    const { slots, pool } = this;
    const mask = slots.length - 1;
    const length = end - start;
    const wholeEnd = start + (length & ~3);
    for (let slot = hash >>> (32 - this.bits); ; slot = (slot + 1) & mask) {
      const entry = slots[slot] as number;
      if (entry === 0) return 0;
      if (pool[entry] !== hash || pool[entry + 1] !== length) continue;
      let own = entry + HEAD_WORDS;
      let at = start;
      while (at < wholeEnd && words.getInt32(at, true) === pool[own]) {
        at += 4;
        own++;
      }
      if (at === wholeEnd && pool[own] === last) return entry;
    }
  }

  /** Keeps a text that `find` did not find, and returns its entry. */
  add(bytes: Uint8Array, words: DataView, start: number, end: number, hash: number, last: number): number {
    if (this.texts.length === TEXTS_MAX || this.used + ENTRY_WORDS_MAX > POOL_WORDS_MAX) this.beginAnew();
    this.reserve();
    const text = this.decode(bytes, start, end);
    const { pool, used: entry } = this;
    pool[entry] = hash;
    pool[entry + 1] = end - start;
    pool[entry + 2] = (this.texts.push(text) - 1) * 2;
    let own = entry + HEAD_WORDS;
    for (let at = start; at + 4 <= end; at += 4) pool[own++] = words.getInt32(at, true);
    pool[own++] = last;
    this.used = own;
    this.place(entry);
    return entry;
  }

  /** Place of an entry's text. */
  placeOf(entry: number): number {
    return (this.pool[entry + 2] as number) >> 1;
  }

  /** Makes the text of an entry, which has come again, the one string of this content. */
  internalize(entry: number): void {
    const mark = this.pool[entry + 2] as number;
    if ((mark & 1) === 1) return;
    this.texts[mark >> 1] = internalized(this.texts[mark >> 1] as string);
    this.pool[entry + 2] = mark + 1;
  }

  private place(entry: number): void {
    const mask = this.slots.length - 1;
    let slot = (this.pool[entry] as number) >>> (32 - this.bits);
    while (this.slots[slot] !== 0) slot = (slot + 1) & mask;
    this.slots[slot] = entry;
  }

  /** Room for one more entry. */
  private reserve(): void {
    if (this.used + ENTRY_WORDS_MAX > this.pool.length) {
      const grown = new Int32Array(this.pool.length * 2);
      grown.set(this.pool);
      this.pool = grown;
    }
    if ((this.texts.length + 1) * 2 <= this.slots.length) return;
    const entries = this.slots.filter((entry) => entry !== 0);
    this.bits++;
    this.slots = new Int32Array(this.slots.length * 2);
    for (const entry of entries) this.place(entry);
  }

  private beginAnew(): void {
    this.texts = [];
    for (const field of this.fields.values()) field.beginAnew(this.texts);
    this.bits = Math.log2(SLOTS_MIN);
    this.slots = new Int32Array(SLOTS_MIN);
    this.pool = new Int32Array(POOL_WORDS_MIN);
    this.used = 1;
  }
}

/** Reads the texts of one field, and tells of the last one where it is kept. */
export class TextField implements TextPlace {
  texts: readonly string[];
  at = -1;
  /** Behind the last text: the position of the quote. */
  end = 0;
  private readonly table: TextTable;
  private readonly isKey: boolean;
  /** What generated code looks into before it calls `read`. */
  readonly recent = new RecentTexts();
  /** Texts that were looked for. */
  lookups = 0;
  private misses = 0;
  /** Texts still to come that are not looked up. */
  private pause = 0;
  private nextPause = PAUSE_LOOKUPS_MIN;

  constructor(table: TextTable, texts: readonly string[], isKey: boolean) {
    this.table = table;
    this.texts = texts;
    this.isKey = isKey;
  }

  /** The plain ASCII text at `at` that a quote ends; null when something else than plain text comes before it. */
  read(bytes: Uint8Array, words: DataView, at: number): string | null {
    const { misses } = this;
    const text = this.readAny(bytes, words, at);
    const isKnown = text !== null && this.at >= 0 && misses === this.misses;
    if (isKnown) this.recent.put(words, at, this.end - at, this.at, this.misses);
    return text;
  }

  private readAny(bytes: Uint8Array, words: DataView, at: number): string | null {
    let end = at;
    let hash = 0;
    let word = words.getInt32(end, true);
    let specials = special(word);
    while (specials === 0) {
      hash = Math.imul(hash ^ word, MULTIPLIER);
      end += 4;
      word = words.getInt32(end, true);
      specials = special(word);
    }
    const rest = plainBytes(specials);
    end += rest;
    if (bytes[end] !== QUOTE) return null;
    this.end = end;
    if (end - at > LENGTH_MAX || this.pause > 0) return this.slice(bytes, at, end);
    const last = firstBytes(word, rest);
    hash = Math.imul(hash ^ last, MULTIPLIER);
    this.lookups++;
    const known = this.table.find(words, at, end, hash, last);
    const entry = known === 0 ? this.add(bytes, words, at, end, hash, last) : known;
    const place = this.table.placeOf(entry);
    if (known !== 0 && (!this.isKey || place < INTERNALIZED_KEYS_MAX)) this.table.internalize(known);
    this.at = place;
    return this.texts[place] as string;
  }

  /** Called when the table was full and is empty again. */
  beginAnew(texts: readonly string[]): void {
    this.texts = texts;
    this.at = -1;
    this.recent.clear();
    const isWorthIt = this.lookups < JUDGED_LOOKUPS_MIN || this.misses <= this.lookups * (1 - HIT_SHARE_MIN);
    if (!isWorthIt) {
      this.pause = this.nextPause;
      this.nextPause = Math.min(this.nextPause * 2, PAUSE_LOOKUPS_MAX);
    }
    this.lookups = 0;
    this.misses = 0;
  }

  private add(bytes: Uint8Array, words: DataView, start: number, end: number, hash: number, last: number): number {
    this.misses++;
    return this.table.add(bytes, words, start, end, hash, last);
  }

  private slice(bytes: Uint8Array, start: number, end: number): string {
    if (this.pause > 0) this.pause--;
    this.at = -1;
    return this.table.decode(bytes, start, end);
  }
}

/** The one string of this content that the runtime has: a name of a property is always that one. The object has no shape of its own. */
function internalized(text: string): string {
  return Object.keys({ __proto__: null, [text]: null })[0] as string;
}
