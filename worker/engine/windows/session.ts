import type { Piece } from '../state/pictures.ts';
import { plus } from '../time/instants.ts';
import type { EarlyWindow } from './early-results.ts';
import type { WindowContent } from './window-content.ts';

/** One session of a key that has not closed. */
export class Session implements EarlyWindow, Piece {
  readonly key: string;
  content: WindowContent;
  isOpen = true;
  /** The time under which it stands in the line of closings. */
  queuedAt = Infinity;
  picture: number;
  readonly #gapMs: number;

  constructor(key: string, gapMs: number, content: WindowContent, picture: number) {
    this.key = key;
    this.#gapMs = gapMs;
    this.content = content;
    this.picture = picture;
  }

  get start(): number {
    return this.content.minTime;
  }

  get end(): number {
    return plus(this.content.maxTime, this.#gapMs);
  }

  /** Arrival number of its first event: sessions that end together close in this order. */
  get rank(): number {
    return this.content.firstOrder;
  }

  /** Whether an event at `time` belongs to it. */
  touches(time: number): boolean {
    return plus(time, this.#gapMs) >= this.content.minTime && time <= this.end;
  }
}
