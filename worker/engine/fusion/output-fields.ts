import type { Value } from '../../../shared/events/value.ts';
import type { FusedOutput } from './fused-output.ts';

/**
 * The fields of an output event, read off it: what a map of them would give, without the map. To `instanceof` it is one, as every
 * map of the language is.
 */
export class OutputFields implements ReadonlyMap<string, Value> {
  readonly #output: FusedOutput;

  constructor(output: FusedOutput) {
    this.#output = output;
  }

  get size(): number {
    return this.#output.shape.names.length;
  }

  get(name: string): Value | undefined {
    const output = this.#output;
    const { names } = output.shape;
    for (let at = 0; at < names.length; at++) if (names[at] === name) return output.value(output, at);
    return undefined;
  }

  has(name: string): boolean {
    return this.#output.shape.names.includes(name);
  }

  forEach(visit: (value: Value, name: string, map: ReadonlyMap<string, Value>) => void): void {
    for (const [name, value] of this) visit(value, name, this);
  }

  keys(): MapIterator<string> {
    return this.#output.shape.names.values() as MapIterator<string>;
  }

  *values(): MapIterator<Value> {
    for (let at = 0; at < this.size; at++) yield this.#output.value(this.#output, at);
  }

  *entries(): MapIterator<[string, Value]> {
    const { names } = this.#output.shape;
    for (let at = 0; at < names.length; at++) yield [names[at] as string, this.#output.value(this.#output, at)];
  }

  [Symbol.iterator](): MapIterator<[string, Value]> {
    return this.entries();
  }
}

Object.setPrototypeOf(OutputFields.prototype, Map.prototype);
