import type { Fields, OutputEvent } from '../../../shared/events/event.ts';
import type { Value } from '../../../shared/events/value.ts';

/**
 * What all outputs of one `.emit` have in common. Each name stands in a property of its own as well, `x0` and so on: to code
 * that knows the shape it is a constant.
 */
export class OutputShape {
  readonly stream: string;
  readonly type: string;
  readonly names: readonly string[];
  declare readonly x0?: string | undefined;
  declare readonly x1?: string | undefined;
  declare readonly x2?: string | undefined;
  declare readonly x3?: string | undefined;

  constructor(stream: string, type: string, names: readonly string[]) {
    this.stream = stream;
    this.type = type;
    const own = uniqueNames(names);
    this.names = own;
    // One by one, as far as most outputs go: by names that are put together it takes much longer.
    if (own.length > 0) this.x0 = own[0];
    if (own.length > 1) this.x1 = own[1];
    if (own.length > 2) this.x2 = own[2];
    if (own.length > 3) this.x3 = own[3];
    const properties = this as unknown as Record<string, string>;
    for (let place = 4; place < own.length; place++) properties[`x${place}`] = own[place] as string;
  }
}

/** The names of the shape that was made last: those of a loop's streams are all the same. */
let last: readonly string[] = [];
let lastGiven: readonly string[] = last;

function uniqueNames(names: readonly string[]): readonly string[] {
  if (names === lastGiven) return last;
  if (names.length !== last.length || names.some((name, place) => name !== last[place])) last = names.map(unique);
  lastGiven = names;
  return last;
}

/** The one copy of a text that names of properties share: equal ones are then found equal without a look at their letters. */
function unique(name: string): string {
  return Object.keys({ [name]: null })[0] as string;
}

/**
 * An output event as generated code makes it: one object with its values, which is the map of its fields too. To `instanceof` it
 * is a map, as every map of the language is.
 */
export abstract class FusedOutput implements OutputEvent, ReadonlyMap<string, Value> {
  declare readonly time: number;
  declare readonly shape: OutputShape;
  /** The value of a field by its place among the names. */
  declare readonly value: (place: number) => Value;
  declare readonly get: (name: string) => Value | undefined;

  get stream(): string {
    return this.shape.stream;
  }

  get type(): string {
    return this.shape.type;
  }

  get fields(): Fields {
    return this;
  }

  get size(): number {
    return this.shape.names.length;
  }

  has(name: string): boolean {
    return this.shape.names.includes(name);
  }

  forEach(visit: (value: Value, name: string, map: ReadonlyMap<string, Value>) => void): void {
    for (const [name, value] of this) visit(value, name, this);
  }

  keys(): MapIterator<string> {
    return this.shape.names.values() as MapIterator<string>;
  }

  *values(): MapIterator<Value> {
    for (let at = 0; at < this.size; at++) yield this.value(at);
  }

  *entries(): MapIterator<[string, Value]> {
    const { names } = this.shape;
    for (let at = 0; at < names.length; at++) yield [names[at] as string, this.value(at)];
  }

  [Symbol.iterator](): MapIterator<[string, Value]> {
    return this.entries();
  }
}

Object.setPrototypeOf(FusedOutput.prototype, Map.prototype);

/** Values of every form in which memory holds them: behind these a field takes any value as it is, without a copy of a number. */
const ANY_FORM: readonly Value[] = [null, 0, 0.5];

/** Makes a generated constructor one of output events: with these two methods. */
export function shapeOutput(made: new (...values: Value[]) => object, value: FusedOutput['value'], get: FusedOutput['get']): void {
  Object.setPrototypeOf(made.prototype, FusedOutput.prototype);
  Object.assign(made.prototype, { value, get });
  for (const one of ANY_FORM) Reflect.construct(made, Array(made.length).fill(one));
}
