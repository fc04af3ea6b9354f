import type { Display } from '../screen.ts';
import type { Shown } from './piece-record.ts';
import { UnseenDisplay } from './unseen-display.ts';

const CHUNK_LENGTH = 65_536;
/** Text of one piece that is kept, UTF-16 units. */
const LENGTH_MAX = 8 * 1024 * 1024;

/** Keeps what a view writes, so that it can be written later and elsewhere. */
export class RecordingDisplay extends UnseenDisplay implements Display {
  readonly #encoder = new TextEncoder();
  #shown: Shown[] = [];
  #text = '';
  #length = 0;

  result(text: string): void {
    this.#length += text.length;
    if (this.#length > LENGTH_MAX) return;
    this.#text += text;
    if (this.#text.length >= CHUNK_LENGTH) this.flush();
  }

  resultBytes(lines: Uint8Array): void {
    this.add(lines);
  }

  note(text: string): void {
    this.#length += text.length;
    this.add({ kind: 'note', text });
  }

  /** Anything else, in order with what is written. */
  add(one: Shown): void {
    if (this.#length > LENGTH_MAX) return;
    this.flush();
    this.#shown.push(one);
  }

  /** What was kept since the last call. */
  take(): { readonly shown: readonly Shown[]; readonly isTooLarge: boolean } {
    this.flush();
    const isTooLarge = this.#length > LENGTH_MAX;
    const shown = isTooLarge ? [] : this.#shown;
    this.#shown = [];
    this.#length = 0;
    return { shown, isTooLarge };
  }

  flush(): void {
    if (this.#text !== '') this.#shown.push(this.#encoder.encode(this.#text));
    this.#text = '';
  }
}
