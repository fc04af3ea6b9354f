import type { BinaryExpression, PlanExpression } from '../../../../shared/language/plan/plan.ts';
import { type AnyText, columnOf, type TextTerm, testedBy } from './text-term.ts';
import type { TextNeeds, TextTest } from './text-test.ts';

/** So many tests of one rule are looked for at once; a rule with more is asked for every row. */
const TESTS_MAX = 4_096;

/** Undefined where a condition may be true without one of such tests, or may fail on texts. */
export function textNeedsOf(condition: TextTerm): TextNeeds | undefined {
  const reads = new Reads();
  const tests = neededBy(condition, reads);
  return tests === null || tests.length > TESTS_MAX ? undefined : { tests, reads: reads.columns, makes: reads.makes };
}

/** What is evaluated whether or not one of the tests holds. */
class Reads {
  columns = new Set<string>();
  /** Texts that are made of the columns. */
  makes = 0;
  /** Others have the same columns, until one of them has more. */
  #isShared = false;

  copy(): Reads {
    const copy = new Reads();
    copy.become(this);
    return copy;
  }

  become(other: Reads): void {
    this.columns = other.columns;
    this.makes = other.makes;
    this.#isShared = true;
    other.#isShared = true;
  }

  add({ column, letters }: Pick<TextTest, 'column' | 'letters'>): void {
    if (!this.columns.has(column)) {
      if (this.#isShared) this.columns = new Set(this.columns);
      this.#isShared = false;
      this.columns.add(column);
    }
    if (letters !== 'same') this.makes++;
  }
}

/** The tests of which one holds where the condition is true. Null: there are none. What is evaluated without them is added to `reads`. */
function neededBy(term: TextTerm, reads: Reads): readonly TextTest[] | null {
  switch (term.kind) {
    case 'any':
      reads.add(term);
      return testsOf(term);
    case 'or':
      return neededByAll(term.parts, reads);
    case 'and':
      return neededByOne(term.parts, reads);
    default:
      return null;
  }
}

function testsOf({ column, letters, how, texts }: AnyText): readonly TextTest[] {
  return texts.map((text) => ({ column, letters, how, text }));
}

function neededByAll(parts: readonly TextTerm[], reads: Reads): readonly TextTest[] | null {
  const tests: TextTest[] = [];
  for (const part of parts) {
    const needed = neededBy(part, reads);
    if (needed === null) return null;
    for (const test of needed) tests.push(test);
  }
  return tests;
}

/** Of the part whose tests hold least often. Each is evaluated where those before it hold: nothing that is sought must fail behind them. */
function neededByOne(parts: readonly TextTerm[], reads: Reads): readonly TextTest[] | null {
  const before = reads.copy();
  let best: readonly TextTest[] | null = null;
  for (const part of parts) {
    const ofPart = before.copy();
    const tests = neededBy(part, ofPart);
    if (tests !== null && (best === null || hitsExpected(tests) < hitsExpected(best))) {
      best = tests;
      reads.become(ofPart);
    }
    if (!addReads(part, before)) break;
  }
  return best;
}

/** Shorter texts are found more often. */
function hitsExpected(tests: readonly TextTest[]): number {
  return tests.reduce((sum, { text, how }) => sum + 1 / (text.length * (how === 'contains' ? 1 : 2)), 0);
}

/** Adds the columns that a condition reads; false when it may fail even where they are null or texts. */
function addReads(term: TextTerm, reads: Reads): boolean {
  switch (term.kind) {
    case 'any':
      reads.add(term);
      return true;
    case 'not':
      return addReads(term.part, reads);
    case 'other':
      return addReadsOf(term.node, reads);
    default:
      return term.parts.every((part) => addReads(part, reads));
  }
}

/** Of what asks for no texts. */
function addReadsOf(node: PlanExpression, reads: Reads): boolean {
  if (node.kind === 'constant') return typeof node.value === 'boolean' || node.value === null;
  if (node.kind === 'is_null') return node.operand.kind === 'field' || addColumn(node.operand, reads);
  const tested = testedBy(node);
  return tested === null ? isCompared(node) : addColumn(tested.subject, reads);
}

/** Whatever a field holds, it can be compared with a constant. */
function isCompared(node: PlanExpression): boolean {
  if (node.kind !== 'binary' || !COMPARISONS.has(node.operator)) return false;
  const isField = (side: PlanExpression): boolean => side.kind === 'field' && side.of.kind === 'current';
  return (isField(node.left) && node.right.kind === 'constant') || (node.left.kind === 'constant' && isField(node.right));
}

const COMPARISONS: ReadonlySet<BinaryExpression['operator']> = new Set(['==', '!=', '<', '<=', '>', '>=']);

function addColumn(subject: PlanExpression, reads: Reads): boolean {
  const column = columnOf(subject);
  if (column !== null) reads.add(column);
  return column !== null;
}
