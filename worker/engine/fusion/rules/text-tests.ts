import type { BinaryExpression, CallExpression, PlanExpression } from '../../../../shared/language/plan/plan.ts';
import type { TextNeeds, TextTest } from './text-test.ts';

/** So many tests of one rule are looked for at once; a rule with more is asked for every row. */
const TESTS_MAX = 4_096;

/** Undefined where a condition may be true without one of such tests, or may fail on texts. */
export function textNeedsOf(condition: PlanExpression): TextNeeds | undefined {
  const reads = new Reads();
  const tests = neededBy(condition, reads);
  return tests === null || tests.length > TESTS_MAX ? undefined : { tests, reads: reads.columns, makes: reads.makes };
}

/** What is evaluated whether or not one of the tests holds. */
class Reads {
  columns = new Set<string>();
  /** Texts that are made of the columns. */
  makes = 0;

  copy(): Reads {
    const copy = new Reads();
    copy.become(this);
    return copy;
  }

  become({ columns, makes }: Reads): void {
    this.columns = new Set(columns);
    this.makes = makes;
  }
}

/** The tests of which one holds where the expression is true. Null: there are none. What is evaluated without them is added to `reads`. */
function neededBy(node: PlanExpression, reads: Reads): readonly TextTest[] | null {
  const tested = testedColumn(node);
  if (tested !== null) {
    addTo(reads, tested.column);
    return testsIn(tested);
  }
  if (node.kind !== 'logical') return null;
  if (node.operator === 'or') {
    const left = neededBy(node.left, reads);
    const right = left && neededBy(node.right, reads);
    return left && right && [...left, ...right];
  }
  return node.operator === 'and' ? neededByBoth(node.left, node.right, reads) : null;
}

/** The right side is evaluated where the left one holds: what is sought by the right side must not fail behind it. */
function neededByBoth(left: PlanExpression, right: PlanExpression, reads: Reads): readonly TextTest[] | null {
  const ofLeft = reads.copy();
  const one = neededBy(left, ofLeft);
  const ofBoth = reads.copy();
  const other = addReads(left, ofBoth) ? neededBy(right, ofBoth) : null;
  const isLeft = one !== null && (other === null || hitsExpected(one) <= hitsExpected(other));
  reads.become(isLeft ? ofLeft : ofBoth);
  return isLeft ? one : other;
}

/** Shorter texts are found more often. */
function hitsExpected(tests: readonly TextTest[]): number {
  return tests.reduce((sum, { text, how }) => sum + 1 / (text.length * (how === 'contains' ? 1 : 2)), 0);
}

/** Adds the columns that an expression reads; false when it may fail even where they are null or texts. */
function addReads(node: PlanExpression, reads: Reads): boolean {
  if (node.kind === 'constant') return typeof node.value === 'boolean' || node.value === null;
  if (node.kind === 'unary') return node.operator === 'not' && addReads(node.operand, reads);
  if (node.kind === 'logical') return node.operator !== '??' && addReads(node.left, reads) && addReads(node.right, reads);
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
  if (column === null) return false;
  addTo(reads, column);
  return true;
}

function addTo(reads: Reads, { name, letters }: TestedColumn): void {
  reads.columns.add(name);
  if (letters !== 'same') reads.makes++;
}

interface Tested {
  readonly how: TextTest['how'];
  readonly subject: PlanExpression;
  readonly texts: readonly string[];
}

/** A field, as it is or in letters of one case. */
type TestedColumn = Pick<TextTest, 'letters'> & { readonly name: string };

interface TestsOfColumn extends Tested {
  readonly column: TestedColumn;
}

/** A comparison with one of some texts, as tests of one column that differ in their texts alone. Null where it is something else. */
export function testsOf(node: PlanExpression): readonly TextTest[] | null {
  const tested = testedColumn(node);
  return tested && testsIn(tested);
}

function testsIn({ column: { name, letters }, how, texts }: TestsOfColumn): readonly TextTest[] {
  return texts.map((text) => ({ column: name, letters, how, text }));
}

function testedColumn(node: PlanExpression): TestsOfColumn | null {
  const tested = testedBy(node);
  const column = tested && columnOf(tested.subject);
  return !tested || !column || tested.texts.includes('') ? null : { ...tested, column };
}

function testedBy(node: PlanExpression): Tested | null {
  if (node.kind === 'call') return testedByCall(node);
  return node.kind === 'binary' ? testedByComparison(node) : null;
}

const CALLS: Readonly<Record<string, TextTest['how']>> = { contains: 'contains', starts_with: 'starts', ends_with: 'ends' };

function testedByCall({ function: name, arguments: given }: CallExpression): Tested | null {
  const how = Object.hasOwn(CALLS, name) ? CALLS[name] : undefined;
  const [subject, sought] = given;
  const text = sought && textOf(sought);
  return how === undefined || subject === undefined || text == null ? null : { how, subject, texts: [text] };
}

function testedByComparison({ operator, left, right }: BinaryExpression): Tested | null {
  const [one, other] = [textOf(left), textOf(right)];
  if (operator === '==' && other !== null) return { how: 'equals', subject: left, texts: [other] };
  if (operator === '==' && one !== null) return { how: 'equals', subject: right, texts: [one] };
  if (operator === 'in' && one !== null) return { how: 'contains', subject: right, texts: [one] };
  const listed = operator === 'in' ? textsOf(right) : null;
  return listed === null ? null : { how: 'equals', subject: left, texts: listed };
}

function textOf(node: PlanExpression): string | null {
  return node.kind === 'constant' && typeof node.value === 'string' ? node.value : null;
}

function textsOf(node: PlanExpression): readonly string[] | null {
  if (node.kind === 'constant' && Array.isArray(node.value)) {
    return node.value.every((one) => typeof one === 'string') ? (node.value as readonly string[]) : null;
  }
  const items = node.kind === 'array' ? node.items.map(textOf) : [null];
  return items.every((one) => one !== null) ? items : null;
}

function columnOf(node: PlanExpression): TestedColumn | null {
  if (node.kind === 'field') return node.of.kind === 'current' ? { name: node.name, letters: 'same' } : null;
  if (node.kind !== 'call' || (node.function !== 'lower' && node.function !== 'upper')) return null;
  const [field] = node.arguments;
  return field?.kind === 'field' && field.of.kind === 'current' ? { name: field.name, letters: node.function } : null;
}
