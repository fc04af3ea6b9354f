import type { FilterPlan, JoinSourcePlan, OperatorPlan, PlanExpression } from '../../../../shared/language/plan/plan.ts';
import type { SourceOptions } from '../../sources/registry.ts';
import type { KernelFactory } from '../fused-runtime.ts';
import type { Body } from '../module-text.ts';
import { printTypedCondition } from '../print-typed.ts';
import type { StreamFusion } from '../stream-fusion.ts';
import { CannotFuse, type Representation, representationOf } from '../typed.ts';
import { ArrivingReadable, JoinColumns, ResidualReadable } from './join-columns.ts';
import { JoinKernel, newestOf } from './join-kernel.ts';
import { KeptSide } from './kept-side.ts';

/** A join, printed: what the functions of its inputs call. */
export interface PrintedJoin {
  readonly sides: readonly { readonly side: KeptSide; readonly arrive: string }[];
  /** Of the only part of the key; null = the key is a canonical text. */
  readonly keyAs: Representation | null;
  /** All fields of the sides are read. */
  readonly isWhole: boolean;
  readonly kernel: { readonly create: KernelFactory; readonly links: readonly string[] };
}

/** What the functions of one join have in common while they are printed. */
interface JoinPlace {
  readonly plan: JoinSourcePlan;
  readonly fusion: StreamFusion;
  readonly sides: readonly KeptSide[];
  readonly result: PrintedResult;
  /** Names of the kernel and of what it keeps. */
  readonly kernel: string;
  readonly waiting: string;
}

interface PrintedResult {
  readonly name: string;
  /** What it is given of each side. */
  readonly given: readonly KeptSide['given'][];
}

/** Prints what follows the join, then a function for the arrivals of each side. @throws CannotFuse */
export function printJoin(plan: JoinSourcePlan, fusion: StreamFusion): PrintedJoin {
  const { program } = fusion;
  const { module } = program;
  const sides = plan.sides.map((side) => new KeptSide(side, program.plan, module));
  const columns = new JoinColumns(sides, module);
  const result = printResult(plan, fusion, { sides, columns });
  const kernel = module.late((runtime) => runtime.kernel(plan));
  const waiting = module.late((runtime) => (runtime.kernel(plan) as JoinKernel).waiting);
  const place: JoinPlace = { plan, fusion, sides, result, kernel, waiting };
  const classes = sides.map((side) => printClass(side, fusion));
  const arrivals = sides.map((_, slot) => printArrive(slot, classes[slot] as string, place));
  const links = sides.flatMap((side, slot) => [arrivals[slot] as string, ...printMakers(side, classes[slot] as string, fusion)]);
  const form = { sides: sides.map((side) => side.form(columns.isWhole)), keyAs: keyRepresentation(plan) };
  const create = (_plan: JoinSourcePlan, options: SourceOptions): JoinKernel => new JoinKernel(plan, options, form);
  const printed = sides.map((side, slot) => ({ side, arrive: arrivals[slot] as string }));
  return { sides: printed, keyAs: form.keyAs, isWhole: columns.isWhole, kernel: { create, links } };
}

/** How keys stand in the table: as they are where both sides have one part of the same kind. */
function keyRepresentation({ sides }: JoinSourcePlan): Representation | null {
  const [first, second] = sides.map(({ keys }) => keys.map(({ type }) => representationOf(type)));
  const isRaw = first?.length === 1 && first[0] !== 'value' && first[0] === second?.[0];
  return isRaw ? (first[0] as Representation) : null;
}

/** The function of two rows that met: the residual condition, then the stream's chain. */
function printResult(
  { residual }: JoinSourcePlan,
  fusion: StreamFusion,
  { sides, columns }: { readonly sides: readonly KeptSide[]; readonly columns: JoinColumns },
): PrintedResult {
  const { module } = fusion.program;
  const arrivingTime = module.names.mint('t');
  const { time, order, type } = columns;
  const name = module.function(
    () => [time, order, type, arrivingTime, ...sides.flatMap(({ given }) => given.map((one) => one.name))],
    (body) => {
      if (residual !== null) printResidual(residual, new ResidualReadable(columns, arrivingTime), body, fusion);
      fusion.chain(columns, body);
    },
  );
  return { name, given: sides.map(({ given }) => given) };
}

function printResidual(residual: PlanExpression, readable: ResidualReadable, body: Body, { program }: StreamFusion): void {
  const condition = printTypedCondition(residual, { module: program.module, body, readable });
  if (condition.canFail) throw new CannotFuse();
  body.add(`if(!${condition.text})return;`);
}

/** A class for the rows of one side that wait: objects of one form. */
function printClass(side: KeptSide, { program }: StreamFusion): string {
  const { module } = program;
  const name = module.names.mint('c');
  const assigned = side.kept.map((one) => `this.${one.property}=${one.name};`).join('');
  const parameters = side.kept.map((one) => one.name).join(',');
  module.declare(`function ${name}(${parameters}){${assigned}this.arrival=0;this.isMatched=false;this.row=null;}`);
  return name;
}

/** Functions for the kernel: that makes what waits, and that makes a row of it. */
function printMakers(side: KeptSide, className: string, { program }: StreamFusion): readonly string[] {
  const { module } = program;
  const parameters = side.kept.map(({ name }) => name);
  const create = module.function(
    () => parameters,
    (body) => body.add(`return new ${className}(${parameters.join(',')});`),
  );
  const waiting = module.names.mint('p');
  const toRow = module.function(
    () => [waiting],
    (body) => body.add(`return ${side.row(waiting)};`),
  );
  return [create, toRow];
}

/** The function for a row that arrives with its key: it takes its place, and meets those that wait on the other side. */
function printArrive(slot: number, className: string, place: JoinPlace): string {
  const { fusion, kernel, waiting, plan } = place;
  const { module } = fusion.program;
  const side = place.sides[slot] as KeptSide;
  const [raw, key, held] = [module.names.mint('v'), module.names.mint('h'), module.names.mint('p')];
  const made = `new ${className}(${side.kept.map(({ name }) => name).join(',')})`;
  return module.function(
    () => side.parameters(raw),
    (body) => {
      body.add(`const ${key}=${waiting}.keys.at(${raw});`);
      body.add(`if(${key}.rows>0){${kernel}.meetRows(${key},${slot},${made});${fusion.node}.schedule();return;}`);
      const printHold = newestOf(plan) === 1 ? printLatest : newestOf(plan) < Infinity ? printNewest : printAll;
      printHold({ slot, key, held, made, side, waiting, body });
      printOwnConditions(slot, place, body);
      printPartners(slot, key, place, body);
      if (plan.withinMs !== null) fusion.watch(waiting, body);
    },
  );
}

interface Hold {
  readonly slot: number;
  readonly key: string;
  readonly held: string;
  readonly made: string;
  readonly side: KeptSide;
  readonly waiting: string;
  readonly body: Body;
}

/** The newest row of a side is written over. */
function printLatest({ slot, key, held, made, side, waiting, body }: Hold): void {
  const place = `${key}.${slot === 0 ? 'left' : 'right'}`;
  const assigned = side.kept.map(({ name, property }) => `${held}.${property}=${name};`).join('');
  body.add(`const ${held}=${place};`);
  body.add(`if(${held}===null)${waiting}.hold(${key},${slot},${place}=${made},true);`);
  body.add(`else{${assigned}${waiting}.hold(${key},${slot},${held},false);}`);
}

/** The oldest of the newest n is written over. */
function printNewest({ slot, key, held, made, side, waiting, body }: Hold): void {
  const list = `${key}.${listOf(slot)}`;
  const assigned = side.kept.map(({ name, property }) => `${held}.${property}=${name};`).join('');
  body.add(`let ${held}=${waiting}.recycled(${list});`);
  body.add(`if(${held}===null){${held}=${made};${list}.push(${held});${waiting}.hold(${key},${slot},${held},true);}`);
  body.add(`else{${assigned}${list}.push(${held});${waiting}.hold(${key},${slot},${held},false);}`);
}

function printAll({ slot, key, held, made, waiting, body }: Hold): void {
  body.add(`const ${held}=${made};`);
  body.add(`${waiting}.trimmed(${key},${key}.${listOf(slot)}).push(${held});`);
  body.add(`${waiting}.hold(${key},${slot},${held},true);`);
}

/** Conditions that the arriving row alone decides, before any partner is looked for. */
function printOwnConditions(slot: number, { plan, fusion, sides }: JoinPlace, body: Body): void {
  const readable = new ArrivingReadable(slot, sides[slot] as KeptSide);
  const conditions = [...(plan.residual === null ? [] : [plan.residual]), ...leadingFilters(fusion.plan.operators)];
  for (const condition of conditions.flatMap(conjuncts)) {
    const undo = body.mark();
    try {
      const { text, canFail } = printTypedCondition(condition, { module: fusion.program.module, body, readable });
      if (canFail) undo();
      else body.add(`if(!${text})return;`);
    } catch (error) {
      if (!(error instanceof CannotFuse)) throw error;
      undo();
    }
  }
}

/** Conditions of the `.where` directly behind the join. */
function leadingFilters(operators: readonly OperatorPlan[]): readonly PlanExpression[] {
  const end = operators.findIndex(({ kind }) => kind !== 'filter' && kind !== 'context');
  const leading = end < 0 ? operators : operators.slice(0, end);
  return leading.filter((one): one is FilterPlan => one.kind === 'filter').map(({ condition }) => condition);
}

function conjuncts(condition: PlanExpression): readonly PlanExpression[] {
  if (condition.kind !== 'logical' || condition.operator !== 'and') return [condition];
  return [...conjuncts(condition.left), ...conjuncts(condition.right)];
}

/** The rows of the other side: each one that is near enough goes on with the arriving one. */
function printPartners(slot: number, key: string, place: JoinPlace, body: Body): void {
  const { plan, sides, waiting, fusion } = place;
  const { names } = fusion.program.module;
  const side = sides[slot] as KeptSide;
  const partner = names.mint('p');
  const meets = plan.withinMs === null ? 'true' : `${waiting}.meets(${side.arrivingTime},${partner}.time)`;
  const call = printCall(slot, partner, place);
  if (newestOf(plan) === 1) {
    body.add(`const ${partner}=${key}.${slot === 0 ? 'right' : 'left'};`);
    body.add(`if(${partner}!==null&&${meets})${call}`);
    return;
  }
  const [list, at] = [names.mint('h'), names.mint('a')];
  const others = `${key}.${listOf(1 - slot)}`;
  body.add(`const ${list}=${plan.withinMs === null ? others : `${waiting}.trimmed(${key},${others})`};`);
  body.add(`for(let ${at}=0;${at}<${list}.length;${at}++){const ${partner}=${list}[${at}];if(${meets})${call}}`);
}

/** The call of what follows, with what it reads of both rows. */
function printCall(slot: number, partner: string, { sides, result }: JoinPlace): string {
  const own = sides[slot] as KeptSide;
  const time = own.arrivingTime;
  const given = result.given.flatMap((values, at) => values.map(({ name, property }) => (at === slot ? name : `${partner}.${property}`)));
  const later = `${time}<${partner}.time?${partner}.time:${time}`;
  return `${result.name}(${[later, own.arrivingOrder, own.arrivingType, time, ...given].join(',')});`;
}

function listOf(slot: number): string {
  return slot === 0 ? 'lefts' : 'rights';
}
