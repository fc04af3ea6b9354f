import type { Severity } from './diagnostic.ts';

/** What is known of a diagnostic code. Codes are never reused. */
export interface CodeDescriptor {
  readonly severity: Severity;
  /** A few words, as a heading. */
  readonly title: string;
}

const error = (title: string): CodeDescriptor => ({ severity: 'error', title });
const warning = (title: string): CodeDescriptor => ({ severity: 'warning', title });

export const CODES = {
  E000: error('syntax error'),
  E001: error('event or type declared twice'),
  E002: error('stream declared twice'),
  E003: error('function declared twice'),
  E004: error('connector declared twice'),
  E005: error('context declared twice'),
  E006: error('pattern declared twice'),
  E007: error('constant or variable declared twice'),
  E008: error('cycle'),
  E010: error('having before aggregate'),
  E011: error('second aggregate'),
  E012: error('second window'),
  E020: error('within without a pattern'),
  E021: error('operators that exclude each other'),
  E030: error('unknown connector'),
  E031: error('unknown context'),
  E032: error('connector cannot do this'),
  E033: error('unknown event, stream, pattern or type'),
  E034: error('unknown field or name'),
  E035: error('unknown alias'),
  E040: error('assignment to an immutable'),
  E050: error('unknown function'),
  E051: error('wrong arguments'),
  E052: error('invalid regular expression'),
  E060: error('not a bool'),
  E061: error('not a duration'),
  E062: error('type mismatch'),
  E070: error('unknown aggregate'),
  E071: error('wrong number of aggregate arguments'),
  E072: error('wrong type of an aggregate argument'),
  E073: error('not an aggregate'),
  E080: error('unknown parameter'),
  E081: error('wrong parameter'),
  E082: error('missing parameter'),
  E091: error('unknown operator'),
  E092: error('operator cannot stand here'),
  E093: error('WebAssembly import'),
  E094: error('unknown connector type'),
  E095: error('program too large'),
  E096: error('emit outside of .process'),
  E097: error('import cannot be read'),
  E099: error('not built yet'),
  W001: warning('unbounded running aggregate'),
  W002: warning('partition_by after the operator it keys'),
  W003: warning('unbounded pattern'),
  W030: warning('event type not declared'),
  W031: warning('emit as an undeclared type'),
  W032: warning('enrich without fields'),
  W034: warning('field shadows a program value'),
  W035: warning('alias reads the candidate'),
  W036: warning('type of another stream as a source'),
  W037: warning('join without a window'),
  W038: warning('config block'),
  W040: warning('unused'),
  W041: warning('topic taken from the stream name'),
  W042: warning('now() is event time'),
  W043: warning('having without an aggregate'),
  W047: warning('hint without effect'),
  W048: warning('not of the last step'),
  W049: warning('trailing optional step'),
} as const satisfies Record<string, CodeDescriptor>;

export type Code = keyof typeof CODES;
