import type { Fields, OutputEvent } from '../../../shared/events/event.ts';
import type { Value } from '../../../shared/events/value.ts';
import { OutputFields } from './output-fields.ts';

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

/** An output event as generated code makes it: one object with its values. */
export abstract class FusedOutput implements OutputEvent {
  declare readonly time: number;
  declare readonly shape: OutputShape;
  /** The value of a field by its place among the names. */
  declare readonly value: (output: FusedOutput, at: number) => Value;

  get stream(): string {
    return this.shape.stream;
  }

  get type(): string {
    return this.shape.type;
  }

  get fields(): Fields {
    return new OutputFields(this);
  }
}

/** Makes a generated constructor one of output events. `value` reads a field by its place. */
export function shapeOutput(made: { prototype: object }, value: FusedOutput['value']): void {
  Object.setPrototypeOf(made.prototype, FusedOutput.prototype);
  Object.assign(made.prototype, { value });
}
