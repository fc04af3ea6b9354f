import { type AlikeStream, alikeOf } from '../../../../shared/language/plan/alike.ts';
import type {
  BinaryExpression,
  ConstantExpression,
  FilterPlan,
  PlanExpression,
  StreamPlan,
} from '../../../../shared/language/plan/plan.ts';
import type { Interval, RuleBounds } from './finder.ts';
import { textConditionOf } from './text-condition.ts';
import { textNeedsOf } from './text-needs.ts';
import { textTermOf } from './text-term.ts';

/** A stream that is looked up: where its first condition can hold at all, and that condition. */
export interface BoundedStream {
  readonly bounds: RuleBounds;
  /** Null where it is asked for every row. Reading it makes the operators of a stream that was made of another one. */
  readonly condition: FilterPlan | null;
  /** What of the condition is evaluated for a row that falls out of the bounds: none of it may fail. */
  readonly evaluatedOutside: readonly PlanExpression[];
  /** The equality by which it is found, a part of its condition, where that was looked at. */
  readonly equality?: Comparison | undefined;
}

/** The equality by which a stream is found, and where streams that were made of it have the constant that they are found by. */
export interface KnownEquality {
  readonly bounds: RuleBounds & { readonly kind: 'equals' };
  readonly place: number;
}

const NOTHING: readonly never[] = [];

/** Bounds that are known before the condition is read. */
class KnownBounds implements BoundedStream {
  readonly bounds: RuleBounds;
  readonly evaluatedOutside = NOTHING;
  readonly #stream: StreamPlan;

  constructor(bounds: RuleBounds, stream: StreamPlan) {
    this.bounds = bounds;
    this.#stream = stream;
  }

  get condition(): FilterPlan {
    return this.#stream.operators[0] as FilterPlan;
  }
}

/** The bounds of streams, one after the other. */
export class StreamBounds {
  /** Of streams that others were made of; null where those have to be looked at one by one. */
  readonly #others = new Map<StreamPlan, KnownEquality | null>();

  /** All bounds of a stream that begins with a condition, the best first: an equality, else a range, else texts. */
  of(stream: StreamPlan): readonly BoundedStream[] {
    const alike = alikeOf(stream);
    const known = alike === undefined ? null : this.ofAlike(alike);
    const constant = known === null ? undefined : alike?.constants[known.place];
    if (known === null || constant === undefined) return boundsOf(stream);
    const value = constant.value as string | number;
    return [new KnownBounds({ kind: 'equals', column: known.bounds.column, value, isExact: known.bounds.isExact }, stream)];
  }

  /** The equality by which all streams that were made of one are found; null where each has to be looked at. */
  ofAlike({ other, constantsOfOther }: AlikeStream): KnownEquality | null {
    let known = this.#others.get(other);
    if (known === undefined) {
      known = equalityOf(other, constantsOfOther);
      this.#others.set(other, known);
    }
    return known;
  }
}

/** Null where the stream's own first operator does not begin with an equality with one of these constants. */
function equalityOf(stream: StreamPlan, constants: readonly ConstantExpression[]): KnownEquality | null {
  const [found] = boundsOf(stream);
  if (found?.bounds.kind !== 'equals' || found.condition !== stream.operators[0] || found.evaluatedOutside.length > 0) return null;
  const place = constants.indexOf(found.equality?.constant as ConstantExpression);
  return place < 0 ? null : { bounds: found.bounds, place };
}

function boundsOf({ source, operators }: StreamPlan): readonly BoundedStream[] {
  if (source.kind !== 'events' || source.inputs.length !== 1) return [];
  const first = source.inputs[0]?.operators[0] ?? operators[0];
  if (first?.kind !== 'filter') return [];
  const byColumn = columnBoundsOf(first);
  if (byColumn?.bounds.kind === 'equals') return [byColumn];
  const term = textTermOf(first.condition);
  const needs = textNeedsOf(term);
  const byTexts = needs && {
    bounds: { kind: 'texts', ...needs, condition: textConditionOf(term), isExact: false } as const,
    condition: first,
    evaluatedOutside: [],
  };
  return [byColumn, byTexts].filter((one) => one !== undefined);
}

/** A stream that is asked for every row. Undefined where it is none that rows come to one by one. */
export function unboundedOf({ source }: StreamPlan): BoundedStream | undefined {
  if (source.kind !== 'events' || source.inputs.length !== 1) return undefined;
  return { bounds: { kind: 'always', isExact: false }, condition: null, evaluatedOutside: [] };
}

/** Undefined when the condition compares no field with a constant. */
function columnBoundsOf(first: FilterPlan): BoundedStream | undefined {
  const parts = conjuncts(first.condition);
  const comparisons = parts.flatMap((one) => comparisonOf(one) ?? []);
  const equality = comparisons.find(({ operator }) => operator === '==');
  const bounds: RuleBounds | undefined =
    equality !== undefined
      ? { kind: 'equals', column: equality.column, value: equality.value, isExact: parts.length === 1 }
      : rangeOf(comparisons, parts.length);
  // A part that is false ends a conjunction: what stands behind the equality is not evaluated.
  const evaluatedOutside = equality === undefined ? [first.condition] : parts.slice(0, parts.indexOf(equality.node));
  return bounds && { bounds, condition: first, evaluatedOutside, ...(equality !== undefined && { equality }) };
}

interface Comparison {
  readonly node: PlanExpression;
  readonly column: string;
  readonly operator: '==' | '<' | '>' | '<=' | '>=';
  readonly value: string | number;
  readonly constant: ConstantExpression;
}

function conjuncts(condition: PlanExpression): readonly PlanExpression[] {
  if (condition.kind !== 'logical' || condition.operator !== 'and') return [condition];
  return [...conjuncts(condition.left), ...conjuncts(condition.right)];
}

const turned: Partial<Record<BinaryExpression['operator'], BinaryExpression['operator']>> = {
  '<': '>',
  '>': '<',
  '<=': '>=',
  '>=': '<=',
  '==': '==',
};

/** A field against a constant. */
function comparisonOf(node: PlanExpression): Comparison | undefined {
  if (node.kind !== 'binary') return undefined;
  const isTurned = node.left.kind === 'constant';
  const [field, constant] = isTurned ? [node.right, node.left] : [node.left, node.right];
  const operator = isTurned ? turned[node.operator] : node.operator;
  if (field.kind !== 'field' || field.of.kind !== 'current' || constant.kind !== 'constant') return undefined;
  const { value } = constant;
  if (operator === '==') {
    const isAny = field.type.kind === 'any';
    const isSame =
      (typeof value === 'string' && (isAny || field.type.kind === 'str')) || (typeof value === 'number' && (isAny || isNumber(field)));
    return isSame ? { node, column: field.name, operator, value: value as string | number, constant } : undefined;
  }
  if (!isNumber(field) || typeof value !== 'number') return undefined;
  return operator === '<' || operator === '<=' || operator === '>' || operator === '>='
    ? { node, column: field.name, operator, value, constant }
    : undefined;
}

function isNumber({ type }: PlanExpression): boolean {
  return type.kind === 'int' || type.kind === 'float';
}

const EVERYTHING: Interval = { low: -Infinity, high: Infinity, hasLow: false, hasHigh: false };

/** The range of the column that is bounded on both sides, else of the first. `parts`: how many the whole condition has. */
function rangeOf(comparisons: readonly Comparison[], parts: number): RuleBounds | undefined {
  const ranges = new Map<string, Interval>();
  for (const one of comparisons) ranges.set(one.column, narrowed(ranges.get(one.column) ?? EVERYTHING, one));
  const [chosen] = [...ranges].sort((a, b) => openEnds(a[1]) - openEnds(b[1]));
  if (chosen === undefined) return undefined;
  const [column, range] = chosen;
  return { kind: 'between', column, ...range, isExact: comparisons.length === parts && ranges.size === 1 };
}

function narrowed(range: Interval, { operator, value }: Comparison): Interval {
  const limit = value as number;
  const hasLimit = operator === '<=' || operator === '>=';
  if (operator === '<' || operator === '<=') {
    if (limit > range.high || (limit === range.high && !range.hasHigh)) return range;
    return { ...range, high: limit, hasHigh: hasLimit };
  }
  if (limit < range.low || (limit === range.low && !range.hasLow)) return range;
  return { ...range, low: limit, hasLow: hasLimit };
}

function openEnds({ low, high }: Interval): number {
  return (low === -Infinity ? 1 : 0) + (high === Infinity ? 1 : 0);
}
