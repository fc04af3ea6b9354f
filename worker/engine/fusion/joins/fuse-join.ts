import type { InputPlan, JoinSourcePlan, OperatorPlan, PlanExpression } from '../../../../shared/language/plan/plan.ts';
import type { Columns } from '../columns.ts';
import type { Body } from '../module-text.ts';
import { fuserOf } from '../operators/registry.ts';
import { printTyped } from '../print-typed.ts';
import type { FusedInlet } from '../shared-functions.ts';
import type { StreamFusion } from '../stream-fusion.ts';
import { boxed, CannotFuse, type Typed } from '../typed.ts';
import { type PrintedJoin, type PrintedSide, printJoin } from './print-join.ts';

/** `join(A, B)`: of two sides, in order of arrival. */
export function fuseJoin(fusion: StreamFusion, origin: string, columns: Columns): readonly FusedInlet[] {
  const plan = fusion.plan.source as JoinSourcePlan;
  requirePlain(plan, fusion);
  const join = fusion.program.kernel(plan, () => printJoin(plan, fusion));
  return fusion.program
    .positions(fusion.index, origin)
    .map((side) => fusion.inlet(`side ${side}`, columns, (passed, body) => printArrival(join, side, { fusion, columns: passed, body })));
}

/** @throws CannotFuse */
function requirePlain({ join, sides, withinMs, withinCount, latestOnly }: JoinSourcePlan, { plan }: StreamFusion): void {
  const isBounded = join === 'inner' ? withinMs !== null || withinCount !== null : withinMs !== null && withinCount === null && !latestOnly;
  if (!isBounded) throw new CannotFuse('no time bounds its rows');
  if (sides.length !== 2) throw new CannotFuse('it has more than two sides');
  if (plan.time.outOfOrderMs > 0) throw new CannotFuse('events wait for those that came before them');
}

interface Arrival {
  readonly fusion: StreamFusion;
  readonly columns: Columns;
  readonly body: Body;
}

/** The operators of the side's input, its key, and the call of what joins. */
function printArrival(join: PrintedJoin, slot: number, arrival: Arrival): void {
  const { keys, input } = (arrival.fusion.plan.source as JoinSourcePlan).sides[slot] as {
    keys: readonly PlanExpression[];
    input: InputPlan;
  };
  printOperators(input.operators, arrival, (columns, body) => {
    const { arrive, side, wait } = join.sides[slot] as PrintedSide;
    const { module } = arrival.fusion.program;
    const parts = keys.map((one) => printTyped(one, { module, body, readable: columns }));
    const keyless = wait === '' ? '' : `${wait}(${side.arguments(null, columns, join.isWhole).join(',')});`;
    const key = printKey(parts, join, keyless, body);
    body.add(`${arrive}(${side.arguments(key, columns, join.isWhole).join(',')});`);
  });
}

function printOperators(
  operators: readonly OperatorPlan[],
  { fusion, columns, body }: Arrival,
  end: (columns: Columns, body: Body) => void,
): void {
  const { program, plan: stream, index } = fusion;
  let row: Columns | null = columns;
  for (const plan of operators) {
    const fuse = fuserOf(plan);
    if (fuse === undefined) throw new CannotFuse('a side has operators with state');
    row = fuse(plan, { program, fusion, module: program.module, stream, index, columns: row, body, rest: cannotFuse });
    if (row === null) throw new CannotFuse('a side has operators with state');
  }
  end(row, body);
}

/** Operators of an input go on in the same function. */
function cannotFuse(): never {
  throw new CannotFuse('a side has operators with state');
}

/** The key as its table has it. A row without a key joins with nothing; `keyless`: what becomes of it. */
function printKey(parts: readonly Typed[], { keyAs }: PrintedJoin, keyless: string, body: Body): string {
  if (parts.some(({ canFail, as }) => canFail || as === 'value')) throw new CannotFuse('the key may fail, or be of any kind');
  const names = parts.map((part) => (part.isSimple ? part : { ...part, text: body.bind(part.text), isSimple: true }));
  for (const { text, isNullable } of names) if (isNullable) body.addEnd(`if(${text}===null){${keyless}return;}`);
  const [only] = names;
  if (keyAs === null) return body.bind(`keyOf([${names.map(boxed).join(',')}])`);
  if (only?.as !== keyAs) throw new CannotFuse('the key has another type here');
  return only.text;
}
