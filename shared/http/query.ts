import Type, { type TSchema } from 'typebox';
import { CepError } from '../errors/error.ts';
import { nearestName } from '../language/diagnostics/nearest-name.ts';
import { limits } from '../limits.ts';

/** A parameter of the query: for the documentation, and how its text is read. */
export interface QueryParameter<T = unknown> {
  readonly schema: TSchema;
  readonly doc: string;
  /** A query without it is refused by `read`. */
  readonly isRequired?: true;
  /** @throws CepError for a text that does not fit; `undefined` when the query lacks the parameter. */
  readonly read: (text: string | undefined) => T;
}

export type QueryTable = Readonly<Record<string, QueryParameter>>;
export type QueryValues<T extends QueryTable> = { readonly [K in keyof T]: T[K] extends QueryParameter<infer V> ? V : never };

const isWhole = /^\d{1,15}$/;
const offsetMax = 999_999_999_999_999;

/** Entries of a page. */
export const limitParameter: QueryParameter<number> = {
  schema: Type.Integer({ minimum: 1, maximum: limits.pageEntriesMax, default: limits.pageEntriesDefault }),
  doc: 'Entries to give at most.',
  read: (text) => {
    if (text === undefined) return limits.pageEntriesDefault;
    const limit = isWhole.test(text) ? Number(text) : 0;
    if (limit >= 1 && limit <= limits.pageEntriesMax) return limit;
    throw new CepError('invalid_limit', `limit: found '${text}', expected a whole number from 1 to ${limits.pageEntriesMax}`);
  },
};

/** Entries before a page. */
export const offsetParameter: QueryParameter<number> = {
  schema: Type.Integer({ minimum: 0, maximum: offsetMax, default: 0 }),
  doc: 'Entries to leave out at the beginning.',
  read: (text) => {
    if (text === undefined) return 0;
    if (isWhole.test(text)) return Number(text);
    throw new CepError('invalid_offset', `offset: found '${text}', expected a whole number from 0 to ${offsetMax}`);
  },
};

/** A parameter that is `true` or `false`. */
export function flagParameter(name: string, doc: string, fallback: boolean): QueryParameter<boolean> {
  return {
    schema: Type.Boolean({ default: fallback }),
    doc,
    read: (text) => {
      if (text === undefined) return fallback;
      if (text === 'true' || text === '1' || text === '') return true;
      if (text === 'false' || text === '0') return false;
      throw new CepError('validation_error', `${name}: found '${text}', expected true or false`);
    },
  };
}

/** A parameter that is any text. */
export function textParameter(doc: string): QueryParameter<string | undefined> {
  return { schema: Type.String(), doc, read: (text) => text };
}

/** A text that a query must have. */
export function requiredTextParameter(name: string, doc: string): QueryParameter<string> {
  return {
    schema: Type.String(),
    doc,
    isRequired: true,
    read: (text) => {
      if (text !== undefined) return text;
      throw new CepError('validation_error', `lacks the query parameter '${name}'`);
    },
  };
}

export type QueryReader = (query: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>;

/**
 * Reads queries by their table. What a query without parameters means is worked out once.
 * The reader throws the CepError of a parameter, `validation_error` for one that stands twice or is unknown.
 */
export function queryReader(table: QueryTable): QueryReader {
  const parameters = Object.entries(table);
  const known = Object.keys(table);
  const read: QueryReader = (query) => {
    for (const name in query) if (!known.includes(name)) throw unknownParameter(name, known);
    return Object.fromEntries(parameters.map(([name, parameter]) => [name, parameter.read(textOf(name, query[name]))]));
  };
  if (parameters.some(([, { isRequired }]) => isRequired)) return read;
  const defaults = Object.freeze(read({}));
  return (query) => {
    for (const _name in query) return read(query);
    return defaults;
  };
}

function textOf(name: string, value: unknown): string | undefined {
  if (value === undefined || typeof value === 'string') return value;
  throw new CepError('validation_error', `query parameter '${name}' stands more than once`);
}

function unknownParameter(name: string, known: readonly string[]): CepError {
  const nearest = nearestName(name, known);
  const expected = known.length === 0 ? 'this path takes none' : `expected ${known.join(', ')}`;
  return new CepError(
    'validation_error',
    `unknown query parameter '${name}': ${expected}`,
    nearest === undefined ? {} : { hint: `did you mean '${nearest}'?` },
  );
}

/** A page of a list that an object holds, as its members beside the list. */
export interface PageFacts {
  readonly total: number;
  readonly pagination: { readonly total: number; readonly limit: number; readonly offset: number; readonly has_more: boolean };
}

interface PageShown {
  readonly total: number;
  readonly limit: number;
  readonly offset: number;
  /** Entries that the page holds, where they may be fewer than were asked for. */
  readonly shown?: number;
}

export function pageFacts({ total, limit, offset, shown }: PageShown): PageFacts {
  return { total, pagination: { total, limit, offset, has_more: offset + (shown || limit) < total } };
}
