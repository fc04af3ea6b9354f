/** What an accepted request counts as: what the tenant's quota sees. */
export interface Admission {
  readonly events: number;
  /** The engine found another number of events in the request. */
  readonly correct: (difference: number) => void;
}

/** Counts the events of a second. Times are milliseconds of any clock that only moves on. */
export class EventMeter {
  readonly #perSecond: number;
  #second = -1;
  #used = 0;
  /** What was lent of the seconds to come. */
  #lent = 0;

  constructor(perSecond: number) {
    this.#perSecond = perSecond;
  }

  /** Takes all of them or none. */
  take(events: number, now: number): boolean {
    if (!this.fits(events, now)) return false;
    this.#used += events;
    return true;
  }

  /** Whether all of them would be taken. More than a whole second allows never fits. */
  fits(events: number, now: number): boolean {
    this.#turn(now);
    return this.#used + events <= this.#perSecond;
  }

  /** Takes all of them if the second has room for one: what goes beyond it is lent of the seconds to come. For whom cannot ask for fewer. */
  borrow(events: number, now: number): boolean {
    if (this.isFull(now)) return false;
    this.#used += events;
    this.#lent = Math.max(0, this.#used - this.#perSecond);
    return true;
  }

  /** Nothing more is taken in this second. */
  isFull(now: number): boolean {
    this.#turn(now);
    return this.#used >= this.#perSecond;
  }

  /** Events that were taken before their number was known; negative when there were fewer. What goes beyond the second is lent. */
  correct(difference: number, now: number): void {
    this.#turn(now);
    this.#used = Math.max(0, this.#used + difference);
    this.#lent = Math.max(0, this.#used - this.#perSecond);
  }

  #turn(now: number): void {
    const second = Math.floor(now / 1000);
    if (second === this.#second) return;
    this.#used = Math.max(0, this.#lent - this.#perSecond * (second - this.#second - 1));
    this.#lent = Math.max(0, this.#used - this.#perSecond);
    this.#second = second;
  }
}
