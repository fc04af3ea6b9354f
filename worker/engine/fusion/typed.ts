import type {
  AttributeName,
  ClosureAggregateExpression,
  PlanExpression,
  RowReference,
  UnlessFirstCaptureExpression,
} from '../../../shared/language/plan/plan.ts';
import type { Type } from '../../../shared/language/plan/types.ts';

/**
 * What generated code knows of a value. Timestamps and durations stand there as their milliseconds; `value` is any value of
 * the language as the rest of the engine holds it.
 */
export type Representation = 'number' | 'string' | 'boolean' | 'timestamp' | 'duration' | 'value';

/** A value as text of generated code: what it is known to be there. */
export interface Typed {
  /** Stands anywhere an expression may: a name, a literal, a call, or in parentheses. */
  readonly text: string;
  readonly as: Representation;
  /** May be null. */
  readonly isNullable: boolean;
  /** A name or a literal: may stand twice. */
  readonly isSimple: boolean;
  /** Evaluating it may throw an `EvaluationError`. */
  readonly canFail: boolean;
  /** Nothing but null. */
  readonly isNull?: true;
  /** Of the text in a field of the event that is being entered: asks for the name of its `TextPlace`, which may be undefined. */
  readonly place?: (() => string) | undefined;
}

/** Nodes that read the functions, variables and locals of the program, or rows as a whole. */
export type OwnNode = Extract<PlanExpression, { kind: 'row' | 'local' | 'global' | 'invoke' | 'lambda' | 'block' }>;

/** What the expressions at one place of a chain may read. `undefined`: not here, so that they have no form. */
export interface Readable {
  /** `type`: its static type where it is read. */
  field(of: RowReference, name: string, type?: Type): Typed | undefined;
  attribute(of: RowReference, name: AttributeName): Typed | undefined;
  /** The result of an aggregate call. */
  aggregate?(index: number): Typed | undefined;
  closure?(node: ClosureAggregateExpression): Typed | undefined;
  unlessFirst?(node: UnlessFirstCaptureExpression): Typed | undefined;
  /** What only an expression reads that runs in a scope of its own. */
  own?(node: OwnNode): Typed;
  /** Event time of the current row, epoch ms: what functions such as `now()` see. */
  readonly time: string;
  /** Static types are too weak a promise here: whatever is not a bool by its form is of any kind. */
  readonly isUntyped?: true;
}

/** Why something of a program has no form in generated code, as the physical plan shows it: it takes rows, or what it stands in does. */
export class Refusal {
  readonly why: string;
  /** The reason says of which operator it is. */
  readonly isLocated: boolean;

  constructor(why: string, isLocated = false) {
    this.why = why;
    this.isLocated = isLocated;
  }
}

export const NULL_TYPED: Typed = { text: 'null', as: 'value', isNullable: true, isSimple: true, canFail: false, isNull: true };

/** Nothing but `true`. */
export const TRUE_TYPED: Typed = { text: 'true', as: 'boolean', isNullable: false, isSimple: true, canFail: false };

/** A value whose form is known before its text is printed. The text is printed once, when it is first asked for. */
export function lazily(form: Omit<Typed, 'text'>, print: () => string): Typed {
  let text: string | null = null;
  return {
    ...form,
    get text() {
      text ??= print();
      return text;
    },
  };
}

/** A name that holds a value of this representation. */
export function named(text: string, as: Representation, isNullable = false): Typed {
  return { text, as, isNullable, isSimple: true, canFail: false };
}

/** How values of a declared type stand in generated code. */
export function representationOf(type: Type): Representation {
  switch (type.kind) {
    case 'int':
    case 'float':
      return 'number';
    case 'str':
      return 'string';
    case 'bool':
      return 'boolean';
    case 'timestamp':
    case 'duration':
      return type.kind;
    default:
      return 'value';
  }
}

/** The value as the rest of the engine holds it. */
export function boxed({ text, as, isNullable, isSimple }: Typed): string {
  if (as !== 'timestamp' && as !== 'duration') return text;
  const make = as === 'timestamp' ? 'timestampOf' : 'durationOf';
  return isNullable || !isSimple ? `${make}OrNull(${text})` : `${make}(${text})`;
}
