import { type GeneratedEvent, generated } from '../generators/generator.ts';
import { type Random, rounded } from '../generators/random.ts';

const ZONES = Array.from({ length: 20 }, (_, index) => `${Math.floor(index / 4) + 1}${'ABCD'[index % 4]}`);
const PEOPLE = ['Ada', 'Ben', 'Cleo', 'Dora', 'Emil', 'Finn', 'Gwen', 'Hugo'] as const;
/** Events between the beginnings of two anomalies. */
const ANOMALY_EVERY = 400;
/** Events between two of one anomaly. */
const STEP = 3;
const USUAL_KW = 5;
/** What a worn cooling takes more at the end. */
const WORN_KW = 8;
const WORN_ZONE = '3B';

export interface BuildingOptions {
  readonly random: Random;
  readonly hasAnomalies: boolean;
  readonly hasDegradation: boolean;
  /** Events in all: by then the cooling has worn out. */
  readonly count: number;
}

/** The events of a building, with what was put among them to be found. */
export class Building {
  readonly #options: BuildingOptions;
  readonly #underWay: GeneratedEvent[] = [];
  #index = 0;
  #overheated = 0;
  #forced = 0;

  constructor(options: BuildingOptions) {
    this.#options = options;
  }

  /** How many anomalies of each rule are complete among the events so far. */
  get planted(): { readonly Overheating: number; readonly ForcedDoor: number } {
    return { Overheating: this.#overheated, ForcedDoor: this.#forced };
  }

  next(): GeneratedEvent {
    const index = this.#index++;
    if (this.#options.hasAnomalies && index % ANOMALY_EVERY === ANOMALY_EVERY / 4) this.#underWay.push(...this.#anomaly(index));
    const next = index % STEP === 0 ? this.#underWay.shift() : undefined;
    if (next === undefined) return this.#ordinary();
    if (this.#underWay.length === 0) this.#count(next);
    return next;
  }

  #count({ type }: GeneratedEvent): void {
    if (type === 'Temperature') this.#overheated++;
    else this.#forced++;
  }

  #anomaly(index: number): readonly GeneratedEvent[] {
    const { random } = this.#options;
    const zone = random.pick(ZONES);
    if (Math.floor(index / ANOMALY_EVERY) % 2 === 0) {
      return [36, 39, 43].map((celsius) => generated('Temperature', { zone, celsius: rounded(celsius + random.next(), 1) }));
    }
    const refusal = generated('Badge', { zone, person: `visitor ${random.whole(100, 999)}`, granted: false });
    return [refusal, refusal, refusal, generated('Door', { zone })];
  }

  #ordinary(): GeneratedEvent {
    const { random, hasDegradation, count } = this.#options;
    const zone = random.pick(ZONES);
    const kind = random.next();
    if (kind < 0.5) return generated('Temperature', { zone, celsius: rounded(21.5 + random.around(0.5), 1) });
    if (kind < 0.9) {
      const worn = hasDegradation && zone === WORN_ZONE ? WORN_KW * Math.min(1, (2 * this.#index) / count) : 0;
      return generated('Power', { zone, kw: rounded(Math.max(0.5, USUAL_KW + worn + random.around(0.3))) });
    }
    if (kind < 0.96) return generated('Badge', { zone, person: random.pick(PEOPLE), granted: true });
    return generated('Door', { zone });
  }
}
