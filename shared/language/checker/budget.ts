import { limits } from '../../limits.ts';

/** What a program may use up while it is checked, so that no text of bounded size grows beyond what a machine holds. */
export interface Resource {
  readonly max: number;
  /** As it follows "the program has more than 500,000". */
  readonly what: string;
  readonly hint: string;
}

export const resources = {
  parts: {
    max: limits.programPartsMax,
    what: 'expressions, operators and steps after its loops are repeated',
    hint: 'divide it among several pipelines, or make a compile-time `for` shorter',
  },
  repetitions: {
    max: limits.programRepeatedPartsMax,
    what: 'parts that compile-time loops repeat',
    hint: 'make the loops shorter, or put fewer of them in one another',
  },
  fields: {
    max: limits.programFieldsMax,
    what: 'fields in the rows of its streams together',
    hint: 'end streams with `.select(..)` or `.emit(..)` of the fields that are read',
  },
  constants: {
    max: limits.programConstantItemsMax,
    what: 'items in the values that its constants give',
    hint: 'make large values in a function that is called when the program runs',
  },
} as const satisfies Readonly<Record<string, Resource>>;

export type ResourceName = keyof typeof resources;

/** Ends a check: a resource is used up, which has been reported. */
export class ProgramTooLarge extends Error {}

/** What is left for one check. */
export class CheckBudget {
  readonly #used: Record<ResourceName, number> = { parts: 0, repetitions: 0, fields: 0, constants: 0 };

  left(name: ResourceName): number {
    return resources[name].max - this.#used[name];
  }

  /** False when there is less left than `amount`. */
  take(name: ResourceName, amount: number): boolean {
    this.#used[name] += amount;
    return this.#used[name] <= resources[name].max;
  }

  /** Both or, where there is less left of one of them, neither: false. */
  takeStream(parts: number, fields: number): boolean {
    const used = this.#used;
    if (used.parts + parts > resources.parts.max || used.fields + fields > resources.fields.max) return false;
    used.parts += parts;
    used.fields += fields;
    return true;
  }
}
