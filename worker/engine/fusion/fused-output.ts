import type { Fields, OutputEvent } from '../../../shared/events/event.ts';
import type { Value } from '../../../shared/events/value.ts';

/** What all outputs of one `.emit` have in common. */
export class OutputShape {
  readonly stream: string;
  readonly type: string;
  readonly names: readonly string[];

  constructor(stream: string, type: string, names: readonly string[]) {
    this.stream = stream;
    this.type = type;
    this.names = names;
  }
}

/** An output event as generated code makes it: one object with its values; the map of its fields is made when it is read. */
export abstract class FusedOutput implements OutputEvent {
  declare readonly time: number;
  declare readonly shape: OutputShape;
  declare protected readonly values: (output: FusedOutput) => readonly Value[];

  get stream(): string {
    return this.shape.stream;
  }

  get type(): string {
    return this.shape.type;
  }

  get fields(): Fields {
    const values = this.values(this);
    return new Map(this.shape.names.map((name, at) => [name, values[at] as Value]));
  }
}

/** Makes a generated constructor one of output events. `values` reads those of one, in the order of the names. */
export function shapeOutput(constructor: { prototype: object }, values: (output: FusedOutput) => readonly Value[]): void {
  Object.setPrototypeOf(constructor.prototype, FusedOutput.prototype);
  Object.assign(constructor.prototype, { values });
}
