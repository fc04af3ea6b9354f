import { CepError } from '../../shared/errors/error.ts';
import { EventSchemas } from '../../shared/events/schema.ts';
import { visible } from '../event-text.ts';

/** The types of a program that cannot be checked: what cannot be read without them is refused. */
export class UnknownSchemas extends EventSchemas {
  readonly #program: string;

  constructor(program: string) {
    super([]);
    this.#program = program;
  }

  override fieldNames(): never {
    throw new CepError(
      'validation_error',
      `this version cannot check the program of '${visible(this.#program)}', so it does not know the fields of its events`,
      { hint: 'name them, as in Type { field: value } or JSON lines' },
    );
  }

  override fieldTypes(): never {
    return this.fieldNames();
  }
}
