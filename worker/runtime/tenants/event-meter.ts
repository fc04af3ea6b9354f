/** Counts the events of a second. Times are milliseconds of any clock that only moves on. */
export class EventMeter {
  readonly #perSecond: number;
  #second = -1;
  #used = 0;

  constructor(perSecond: number) {
    this.#perSecond = perSecond;
  }

  /** Takes all of them or none. More than a whole second allows never fits. */
  take(events: number, now: number): boolean {
    this.#turn(now);
    if (this.#used + events > this.#perSecond) return false;
    this.#used += events;
    return true;
  }

  /** Nothing more is taken in this second. */
  isFull(now: number): boolean {
    this.#turn(now);
    return this.#used >= this.#perSecond;
  }

  /** Events that were taken before their number was known; negative when there were fewer. */
  correct(difference: number, now: number): void {
    this.#turn(now);
    this.#used = Math.max(0, this.#used + difference);
  }

  #turn(now: number): void {
    const second = Math.floor(now / 1000);
    if (second === this.#second) return;
    this.#second = second;
    this.#used = 0;
  }
}
