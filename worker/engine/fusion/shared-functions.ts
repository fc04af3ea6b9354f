import type { Columns } from './columns.ts';

/** A generated function that takes rows, and what it is given. */
export interface FusedInlet {
  readonly name: string;
  /** Complete once the function is decided. */
  readonly arguments: readonly string[];
}

/** `isCounted`: each row counts as an event of the stream. The others as `PassedColumns` has them. */
export interface InletTraits {
  readonly isCounted?: boolean;
  readonly takesPlaces?: boolean;
  readonly isRare?: boolean;
}

/** A row handed to a function: what it takes of it, and what its callers give for that. */
export interface HandedRow extends Columns {
  readonly parameters: readonly string[];
  readonly arguments: readonly string[];
  /** What another caller gives; null where its row has not the form that the function takes. */
  argumentsFor(columns: Columns): readonly string[] | null;
}

/** A function as it was decided for the first that calls it. */
interface DecidedFunction {
  readonly name: string;
  readonly passed: HandedRow;
}

/**
 * The functions of a program that more than one place calls: what is done with a row is decided and printed once for rows of one form, however
 * many ways lead there. Without this the text of streams that part and meet again would double with each meeting.
 */
export class SharedFunctions {
  readonly #byPurpose = new Map<string, DecidedFunction[]>();

  /** A function that serves this purpose and takes such rows. */
  find(purpose: string, columns: Columns): FusedInlet | undefined {
    for (const { name, passed } of this.#byPurpose.get(purpose) ?? []) {
      const given = passed.argumentsFor(columns);
      if (given !== null) return { name, arguments: given };
    }
    return undefined;
  }

  /** How many functions serve this purpose, each for rows of another form. */
  count(purpose: string): number {
    return this.#byPurpose.get(purpose)?.length ?? 0;
  }

  add(purpose: string, one: DecidedFunction): void {
    const same = this.#byPurpose.get(purpose);
    if (same === undefined) this.#byPurpose.set(purpose, [one]);
    else same.push(one);
  }
}
