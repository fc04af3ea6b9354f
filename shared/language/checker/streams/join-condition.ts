import type { PlanExpression, RowReference } from '../../plan/plan.ts';
import { BOOL } from '../../plan/types.ts';

/** A join condition taken apart. */
export interface SplitCondition {
  /** Per key part, one expression for each side, still reading slots. */
  readonly keys: readonly (readonly PlanExpression[])[];
  /** What the keys do not say; null = nothing. */
  readonly residual: PlanExpression | null;
}

/**
 * Splits conditions that must all hold into key parts, equal on every side, and a residual. Of two sides each equality
 * between them is a key part. Of more sides equalities chain (`A.k == B.k and B.k == C.k`): what chains through all of them is
 * a key part, the others stay in the residual. `identity` tells equal expressions.
 */
export function splitCondition(
  conditions: readonly PlanExpression[],
  sides: number,
  identity: (value: PlanExpression) => string,
): SplitCondition {
  const parts = conditions.flatMap(conjuncts);
  const groups = groupEqualities(parts, identity);
  const complete = groups.filter((group) => new Set(group.members.map(({ side }) => side)).size === sides);
  const keys = complete.map((group) => Array.from({ length: sides }, (_, side) => memberOf(group, side)));
  const implied = new Set(complete.flatMap((group) => group.equalities.filter((each) => isImplied(each, group)).map(({ part }) => part)));
  const rest = parts.filter((part) => !implied.has(part));
  return {
    keys,
    residual: rest.length === 0 ? null : rest.reduce((left, right) => ({ kind: 'logical', operator: 'and', left, right, type: BOOL })),
  };
}

function conjuncts(condition: PlanExpression): readonly PlanExpression[] {
  if (condition.kind !== 'logical' || condition.operator !== 'and') return [condition];
  return [...conjuncts(condition.left), ...conjuncts(condition.right)];
}

interface Member {
  readonly side: number;
  readonly value: PlanExpression;
  readonly identity: string;
}

interface Equality {
  readonly part: PlanExpression;
  readonly left: Member;
  readonly right: Member;
}

/** Expressions that must be equal to each other. */
interface Group {
  readonly members: readonly Member[];
  readonly equalities: readonly Equality[];
}

function groupEqualities(parts: readonly PlanExpression[], identity: (value: PlanExpression) => string): readonly Group[] {
  let groups: readonly Group[] = [];
  for (const part of parts) {
    const equality = asEquality(part, identity);
    if (!equality) continue;
    const ends = [equality.left, equality.right];
    const touches = (group: Group): boolean => group.members.some((member) => ends.some((end) => end.identity === member.identity));
    const joined = groups.filter(touches);
    const members = [...joined.flatMap((group) => group.members), ...ends];
    groups = [
      ...groups.filter((group) => !touches(group)),
      { members, equalities: [...joined.flatMap((group) => group.equalities), equality] },
    ];
  }
  return groups;
}

/** `L == R` where each reads one side, and not the same. */
function asEquality(part: PlanExpression, identity: (value: PlanExpression) => string): Equality | undefined {
  if (part.kind !== 'binary' || part.operator !== '==') return undefined;
  const left = asMember(part.left, identity);
  const right = asMember(part.right, identity);
  return left && right && left.side !== right.side ? { part, left, right } : undefined;
}

function asMember(value: PlanExpression, identity: (value: PlanExpression) => string): Member | undefined {
  const [side, ...others] = sidesRead(value);
  return side === undefined || others.length > 0 ? undefined : { side, value, identity: identity(value) };
}

/** The first expression of a side is its part of the key. */
function memberOf({ members }: Group, side: number): PlanExpression {
  return (members.find((member) => member.side === side) as Member).value;
}

/** Both ends are the parts of the key of their sides, so equal keys say it already. */
function isImplied({ left, right }: Equality, { members }: Group): boolean {
  const isPart = (end: Member): boolean => members.find((each) => each.side === end.side)?.identity === end.identity;
  return isPart(left) && isPart(right);
}

/** The slots that an expression reads. */
function sidesRead(expression: PlanExpression): readonly number[] {
  const slots = new Set<number>();
  visitRows(expression, (reference) => {
    if (reference.kind === 'slot') slots.add(reference.slot);
  });
  return [...slots];
}

/** The expression as it reads on a side's own row: slots become the current row. */
export function onSide(expression: PlanExpression): PlanExpression {
  return replaceRows(expression) as PlanExpression;
}

function visitRows(value: unknown, visit: (reference: RowReference) => void): void {
  if (Array.isArray(value)) for (const item of value) visitRows(item, visit);
  if (!isNode(value)) return;
  if (value['of'] !== undefined) visit(value['of'] as RowReference);
  for (const part of Object.values(value)) visitRows(part, visit);
}

function replaceRows(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(replaceRows);
  if (!isNode(value)) return value;
  if (value['kind'] === 'slot') return { kind: 'current' };
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, replaceRows(part)]));
}

/** A node of the plan; constants hold values, which have no rows in them. */
function isNode(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.getPrototypeOf(value) === Object.prototype && (value as { kind?: unknown }).kind !== 'constant';
}
