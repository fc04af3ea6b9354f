import type { InputPlan, JoinSourcePlan, OperatorPlan, PlanExpression } from '../../../../shared/language/plan/plan.ts';
import { isUnitless } from '../../joins/join-key.ts';
import { isKeepingRow } from '../../operators/operator-facts.ts';
import type { Columns } from '../columns.ts';
import type { DecideRow, StreamContext } from '../fusion-context.ts';
import type { Body } from '../module-text.ts';
import { fuserOf } from '../operators/registry.ts';
import { typedOf } from '../print-typed.ts';
import type { FusedInlet } from '../shared-functions.ts';
import { boxed, lazily, Refusal, type Typed } from '../typed.ts';
import { type DecidedJoin, type DecidedSide, decideJoin } from './print-join.ts';

/** `join(A, B)`: of two sides, in order of arrival. */
export function fuseJoin(fusion: StreamContext, origin: string, columns: Columns): readonly FusedInlet[] | Refusal {
  const plan = fusion.plan.source as JoinSourcePlan;
  const why = whyNot(plan, fusion);
  if (why !== null) return new Refusal(why);
  const join = fusion.program.kernel(plan, () => decideJoin(plan, fusion));
  if (join instanceof Refusal) return join;
  const inlets: FusedInlet[] = [];
  for (const side of fusion.program.positions(fusion.index, origin)) {
    const decide: DecideRow = (passed, body) => decideArrival(join, side, { fusion, columns: passed, body });
    const inlet = fusion.inlet(`side ${side}`, columns, decide);
    if (inlet instanceof Refusal) return inlet;
    inlets.push(inlet);
  }
  return inlets;
}

function whyNot({ join, sides, withinMs, withinCount, latestOnly }: JoinSourcePlan, { plan }: StreamContext): string | null {
  const isBounded = join === 'inner' ? withinMs !== null || withinCount !== null : withinMs !== null && withinCount === null && !latestOnly;
  if (!isBounded) return 'no time bounds its rows';
  if (sides.length !== 2) return 'it has more than two sides';
  if (plan.time.outOfOrderMs > 0) return 'events wait for those that came before them';
  const operators = sides.flatMap(({ input }) => input.operators);
  return operators.every((one) => one.kind === 'select' || isKeepingRow(one)) ? null : 'a side has operators with state';
}

interface Arrival {
  readonly fusion: StreamContext;
  readonly columns: Columns;
  readonly body: Body;
}

/** The operators of the side's input, its key, and the call of what joins. */
function decideArrival(join: DecidedJoin, slot: number, arrival: Arrival): Refusal | null {
  const { fusion, body } = arrival;
  const { program } = fusion;
  const { keys, input } = (fusion.plan.source as JoinSourcePlan).sides[slot] as {
    keys: readonly PlanExpression[];
    input: InputPlan;
  };
  const columns = behind(input.operators, arrival);
  if (columns instanceof Refusal) return columns;
  const { arrive, side, wait } = join.sides[slot] as DecidedSide;
  body.note(() => program.useKernel(fusion.plan.source));
  const keyless = wait === null ? [] : side.arguments(null, columns, join.isWhole);
  if (keyless instanceof Refusal) return keyless;
  const waiting = (): string => (wait === null ? '' : `${program.module.call({ name: wait, arguments: keyless })};`);
  const key = decideKey(keys, join, waiting, { ...arrival, columns });
  if (key instanceof Refusal) return key;
  const given = side.arguments(key, columns, join.isWhole);
  if (given instanceof Refusal) return given;
  body.add(() => `${program.module.call({ name: arrive, arguments: given })};`);
  return null;
}

/** Operators of an input go on in the same function. */
function behind(operators: readonly OperatorPlan[], { fusion, columns, body }: Arrival): Columns | Refusal {
  const { program, plan: stream, index } = fusion;
  const rest: DecideRow = () => new Refusal('a side has operators with state');
  let row: Columns = columns;
  for (const plan of operators) {
    const fuse = fuserOf(plan);
    if (fuse instanceof Refusal) return fuse;
    const next = fuse(plan, { program, fusion, module: program.module, stream, index, columns: row, body, rest });
    if (next instanceof Refusal) return next;
    if (next !== null) row = next;
  }
  return row;
}

/** The key as its table has it. A row without a key joins with nothing; `waiting`: what becomes of it. */
function decideKey(
  keys: readonly PlanExpression[],
  { keyAs }: DecidedJoin,
  waiting: () => string,
  { fusion, columns, body }: Arrival,
): string | Refusal {
  const parts: Typed[] = [];
  for (const [position, key] of keys.entries()) {
    const part = typedOf(key, { module: fusion.program.module, body, readable: columns });
    if (part instanceof Refusal) return part;
    if (part.canFail || part.as === 'value') return new Refusal('the key may fail, or be of any kind');
    // A duration stands there as its milliseconds.
    parts.push(part.as === 'duration' && isUnitless(fusion.plan.source as JoinSourcePlan, position) ? withoutUnit(part) : part);
  }
  const named = parts.map((part) => (part.isSimple ? part : { ...part, text: body.bind(() => part.text), isSimple: true }));
  for (const { text, isNullable } of named) if (isNullable) body.addEnd(() => `if(${text}===null){${waiting()}return;}`);
  const [only] = named;
  if (keyAs === null) return body.bind(`keyOf([${named.map(boxed).join(',')}])`);
  return only?.as === keyAs ? only.text : new Refusal('the key has another type here');
}

function withoutUnit(duration: Typed): Typed {
  const { isNullable, isSimple, canFail } = duration;
  return lazily({ as: 'number', isNullable, isSimple, canFail }, () => duration.text);
}
