/** The time alone is measured over at least so long, ms; and parts of it. */
const ALONE_MS_MIN = 150;
const PART_MS = 25;
/** A thread is started, and its program checked and made, in about so long, ms. */
const START_MS = 350;
/** Lanes are tried only where one run would take so long at least, ms: a try costs a small part of that, and may be in vain. */
const LEFT_MS_MIN = 1_500;
const GAIN_MIN = 1.2;
/** What one thread does, however many there are: to put an alert of a lane in order with others, and write it, ms. */
const SHOW_MS = 0.0006;
/** The gain is measured over parts of at least so long, ms, and for so many of them there need be none. */
const TOGETHER_MS = 500;
const PARTS_WITHOUT_GAIN = 3;

/** What a try has found. */
export interface LaneTrial {
  /** How long a lane takes for each byte, ms, when none of the events is its own. */
  readonly msPerByte: number;
  /** Of all events, those of the fullest lane. */
  readonly shareMax: number;
}

/**
 * Whether lanes are worth their while. Each reads the whole file from its beginning, and works on its share. Speeds are in bytes per
 * millisecond; times come from whoever asks, ms of any clock that only moves on.
 */
export class LaneChoice {
  readonly #size: number;
  readonly #isForced: boolean;
  #begun: number | undefined;
  #part = { at: 0, bytes: 0 };
  #speedAlone = 0;
  #together: { readonly at: number; readonly bytes: number } | undefined;
  #partsWithoutGain = 0;

  /** `size`: of the file, bytes. `isForced`: they work from the first line on, whatever is gained. */
  constructor(size: number, { isForced }: { readonly isForced: boolean }) {
    this.#size = size;
    this.#isForced = isForced;
  }

  /** One run has come to this byte. */
  noteAlone(bytes: number, now: number): void {
    this.#begun ??= now;
    const part = this.#part;
    if (part.at === 0) this.#part = { at: now, bytes };
    if (part.at === 0 || now - part.at < PART_MS) return;
    this.#part = { at: now, bytes };
    this.#speedAlone = Math.max(this.#speedAlone, (bytes - part.bytes) / (now - part.at));
  }

  isWorthTrying(bytes: number, now: number): boolean {
    if (this.#isForced) return true;
    const isMeasured = this.#begun !== undefined && now - this.#begun >= ALONE_MS_MIN && this.#speedAlone > 0;
    return isMeasured && this.#leftMs(bytes) >= LEFT_MS_MIN;
  }

  /** `shown`: alerts that have been shown of these bytes. */
  isWorthStarting(bytes: number, shown: number, { msPerByte, shareMax }: LaneTrial): boolean {
    if (this.#isForced) return true;
    const work = Math.max(0, 1 / this.#speedAlone - msPerByte);
    const lanesMs = START_MS + this.#size * (msPerByte + work * shareMax + (shown / bytes) * SHOW_MS);
    return lanesMs * GAIN_MIN <= this.#leftMs(bytes);
  }

  /** The lanes have come to this byte together. False when one would be at the end sooner, though it has to begin again. */
  isWorthGoingOn(bytes: number, now: number): boolean {
    const part = this.#together;
    if (part === undefined) this.#together = { at: now, bytes };
    if (this.#isForced || part === undefined || now - part.at < TOGETHER_MS) return true;
    this.#together = { at: now, bytes };
    const togetherMs = ((this.#size - bytes) * (now - part.at)) / Math.max(1, bytes - part.bytes);
    this.#partsWithoutGain = togetherMs > this.#size / this.#speedAlone ? this.#partsWithoutGain + 1 : 0;
    return this.#partsWithoutGain < PARTS_WITHOUT_GAIN;
  }

  #leftMs(bytes: number): number {
    return (this.#size - bytes) / this.#speedAlone;
  }
}
