import type { InputPlan, JoinSourcePlan, OperatorPlan, PlanExpression } from '../../../../shared/language/plan/plan.ts';
import type { Columns } from '../columns.ts';
import type { Body } from '../module-text.ts';
import { fuserOf } from '../operators/registry.ts';
import type { Place } from '../place.ts';
import { printTyped } from '../print-typed.ts';
import type { FusedInlet, StreamFusion } from '../stream-fusion.ts';
import { boxed, CannotFuse, type Typed } from '../typed.ts';
import { type PrintedJoin, type PrintedSide, printJoin } from './print-join.ts';

/** By stream: its join, when that is printed. */
const printed = new WeakMap<StreamFusion, PrintedJoin>();

/** `join(A, B)`: of two sides, in order of arrival. */
export function fuseJoin(fusion: StreamFusion, origin: string, columns: Columns): readonly FusedInlet[] {
  const plan = fusion.plan.source as JoinSourcePlan;
  if (!isFusible(plan, fusion)) throw new CannotFuse();
  fusion.program.kernel(plan, () => {
    const join = printJoin(plan, fusion);
    printed.set(fusion, join);
    return join.kernel;
  });
  const join = printed.get(fusion) as PrintedJoin;
  return fusion.program
    .positions(fusion.index, origin)
    .map((side) => fusion.inlet(columns, (passed, body) => printArrival(join, side, { fusion, columns: passed, body })));
}

function isFusible({ join, sides, withinMs, withinCount, latestOnly }: JoinSourcePlan, { plan }: StreamFusion): boolean {
  const isBounded = join === 'inner' ? withinMs !== null || withinCount !== null : withinMs !== null && withinCount === null && !latestOnly;
  return isBounded && sides.length === 2 && plan.time.outOfOrderMs === 0;
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
  const [plan, ...others] = operators;
  if (plan === undefined) {
    end(columns, body);
    return;
  }
  const { program, plan: stream, index } = fusion;
  const rest: Place['rest'] = (next, inner) => printOperators(others, { fusion, columns: next, body: inner }, end);
  const fuse = fuserOf(plan);
  if (fuse === undefined) throw new CannotFuse();
  fuse(plan, { program, fusion, module: program.module, stream, index, columns, body, rest });
}

/** The key as its table has it. A row without a key joins with nothing; `keyless`: what becomes of it. */
function printKey(parts: readonly Typed[], { keyAs }: PrintedJoin, keyless: string, body: Body): string {
  if (parts.some(({ canFail, as }) => canFail || as === 'value')) throw new CannotFuse();
  const names = parts.map((part) => (part.isSimple ? part : { ...part, text: body.bind(part.text), isSimple: true }));
  for (const { text, isNullable } of names) if (isNullable) body.add(`if(${text}===null){${keyless}return;}`);
  const [only] = names;
  if (keyAs === null) return body.bind(`keyOf([${names.map(boxed).join(',')}])`);
  if (only?.as !== keyAs) throw new CannotFuse();
  return only.text;
}
