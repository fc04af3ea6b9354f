import type { Plan } from '../../shared/language/plan/plan.ts';
import type { DeadLetter, Delivery } from '../../worker/engine/engine.ts';
import { plain } from '../colors.ts';
import { thousands } from '../counts.ts';
import { eventText, visible } from '../event-text.ts';
import type { SimulationView } from './view.ts';

/**
 * What a program hands to `.to` and `.alert`. A simulation connects to nothing: what goes to a console connector is shown,
 * everything else is counted.
 */
export class Deliveries {
  readonly #view: SimulationView;
  readonly #consoles: ReadonlySet<string>;
  readonly #undelivered: Map<string, number>;

  constructor({ connectors }: Plan, view: SimulationView, undelivered: readonly (readonly [string, number])[] = []) {
    this.#view = view;
    this.#consoles = new Set(connectors.filter(({ type }) => type === 'console').map(({ name }) => name));
    this.#undelivered = new Map(undelivered);
  }

  take(delivery: Delivery): void {
    const { connector, url } = delivery;
    if (connector !== null && this.#consoles.has(connector)) this.#view.console(consoleLine(delivery));
    else this.#count(connector ?? `webhook ${url}`);
  }

  /** A row that failed in a stream with `.on_error(dlq)`. */
  takeDeadLetter({ stream }: DeadLetter): void {
    this.#count(`the dead letters of stream ${stream}`);
  }

  /** To how many more was delivered than is shown. */
  get targets(): number {
    return this.#undelivered.size;
  }

  /** What was handed over elsewhere and counted there. */
  add(undelivered: readonly (readonly [string, number])[]): void {
    for (const [target, count] of undelivered) this.#count(target, count);
  }

  #count(target: string, more = 1): void {
    this.#undelivered.set(target, (this.#undelivered.get(target) ?? 0) + more);
  }

  summary(): string[] {
    return Array.from(this.#undelivered, ([target, count]) => {
      return `Not delivered:     ${thousands(count)} to ${visible(target)} (a simulation connects to nothing)`;
    });
  }

  save(): readonly (readonly [string, number])[] {
    return [...this.#undelivered];
  }
}

function consoleLine({ connector, topic, type, fields }: Delivery): string {
  return `${visible(topic ?? connector ?? '')}: ${eventText(type, fields, plain)}`;
}
