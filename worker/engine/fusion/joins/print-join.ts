import type { FilterPlan, JoinSourcePlan, OperatorPlan, PlanExpression } from '../../../../shared/language/plan/plan.ts';
import { isOuter, JoinKernel, newestOf } from '../../joins/join-kernel.ts';
import { isKeepingRow } from '../../operators/operator-facts.ts';
import type { KernelNode } from '../../physical/physical-plan.ts';
import type { SourceOptions } from '../../sources/source-options.ts';
import type { Body } from '../module-text.ts';
import { printTypedCondition } from '../print-typed.ts';
import type { PrintingKernel, ProgramFusion } from '../program-fusion.ts';
import type { StreamFusion } from '../stream-fusion.ts';
import { CannotFuse, type Readable, type Representation, representationOf } from '../typed.ts';
import { ArrivingReadable, JoinColumns, ResidualReadable } from './join-columns.ts';
import { KeptSide } from './kept-side.ts';

/** A join, printed: what the functions of its inputs call. */
export interface PrintedJoin extends PrintingKernel {
  readonly sides: readonly PrintedSide[];
  /** Of the only part of the key; null = the key is a canonical text. */
  readonly keyAs: Representation | null;
  /** All fields of the sides are read. */
  readonly isWhole: boolean;
}

export interface PrintedSide {
  readonly side: KeptSide;
  /** The function for a row with a key. */
  readonly arrive: string;
  /** The call for a row without one: it only waits for its end; '' = nothing follows from that. */
  readonly wait: string;
}

/** What the functions of one join have in common while they are printed. */
interface JoinPlace {
  readonly plan: JoinSourcePlan;
  readonly fusion: StreamFusion;
  readonly sides: readonly KeptSide[];
  readonly result: PrintedFunction;
  readonly condition: PrintedFunction | null;
  /** Names of the kernel and of what it keeps. */
  readonly kernel: string;
  readonly waiting: string;
}

/** A function of two rows. */
interface PrintedFunction {
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
  const condition = printCondition(plan, { fusion, sides, columns });
  const result = printResult(plan, { fusion, sides, columns });
  const kernel = module.late((runtime) => runtime.kernel(plan));
  const waiting = module.late((runtime) => (runtime.kernel(plan) as JoinKernel | undefined)?.waiting);
  const place: JoinPlace = { plan, fusion, sides, result, condition, kernel, waiting };
  const classes = sides.map((side) => printClass(side, fusion));
  const arrivals = sides.map((_, slot) => printArrive(slot, classes[slot] as string, place));
  const links = sides.flatMap((side, slot) => [arrivals[slot] as string, ...printMakers(side, classes[slot] as string, fusion)]);
  links.push(
    module.function(
      () => [],
      (body) => body.add(`${fusion.node}.schedule();`),
    ),
  );
  const waits = sides.map((_, slot) => (isOuter(plan, slot) ? printWait(slot, classes[slot] as string, place) : ''));
  const form = { sides: sides.map((side) => side.form(columns.isWhole)), keyAs: keyRepresentation(plan) };
  const create = (_plan: JoinSourcePlan, options: SourceOptions): JoinKernel => new JoinKernel(plan, options, form);
  const printed = sides.map((side, slot) => ({ side, arrive: arrivals[slot] as string, wait: waits[slot] as string }));
  return { sides: printed, keyAs: form.keyAs, isWhole: columns.isWhole, create, links, node: nodeOf(plan, sides) };
}

function nodeOf({ join, sides: [first] }: JoinSourcePlan, sides: readonly KeptSide[]): KernelNode {
  const keeps = sides.flatMap(({ name, columns }) => [`${name}.timestamp`, ...columns.map((column) => `${name}.${column}`)]);
  const keys = first?.keys.length === 0 ? [] : [`the ${first?.keys.length === 1 ? 'key' : 'keys'} of \`.on\``];
  return { name: `${join} join of 2 sides`, keys, keeps, sharedWith: [] };
}

/** How keys stand in the table: as they are where both sides have one part of the same kind. */
function keyRepresentation({ sides }: JoinSourcePlan): Representation | null {
  const [first, second] = sides.map(({ keys }) => keys.map(({ type }) => representationOf(type)));
  const isRaw = first?.length === 1 && first[0] !== 'value' && first[0] === second?.[0];
  return isRaw ? (first[0] as Representation) : null;
}

/** What follows two rows that met: the stream's chain. The condition of an inner join stands there too. */
function printResult({ residual, join }: JoinSourcePlan, { fusion, sides, columns }: ResultPlace): PrintedFunction {
  return printOfBoth({ fusion, sides, columns }, (body, arrivingTime) => {
    if (residual !== null && join === 'inner') {
      body.addEnd(`if(!${printWithoutFailure(residual, new ResidualReadable(columns, arrivingTime), body, fusion.program)})return;`);
    }
    fusion.chain(columns, body);
  });
}

/** The condition of an outer join: it alone says whether rows have met, whatever becomes of the result. */
function printCondition({ residual, join }: JoinSourcePlan, place: ResultPlace): PrintedFunction | null {
  if (residual === null || join === 'inner') return null;
  return printOfBoth(place, (body, arrivingTime) => {
    body.add(`return ${printWithoutFailure(residual, new ResidualReadable(place.columns, arrivingTime), body, place.fusion.program)};`);
  });
}

interface ResultPlace {
  readonly fusion: StreamFusion;
  readonly sides: readonly KeptSide[];
  readonly columns: JoinColumns;
}

/** A function that is given what it reads of two rows. */
function printOfBoth({ fusion, sides, columns }: ResultPlace, print: (body: Body, arrivingTime: string) => void): PrintedFunction {
  const { module } = fusion.program;
  const arrivingTime = module.names.mint('t');
  const { time, order, type } = columns;
  const name = module.function(
    () => [time, order, type, arrivingTime, ...sides.flatMap(({ given }) => given.map((one) => one.name))],
    (body) => print(body, arrivingTime),
  );
  return { name, given: sides.map(({ given }) => given) };
}

/** @throws CannotFuse where it may fail */
function printWithoutFailure(condition: PlanExpression, readable: Readable, body: Body, { module }: ProgramFusion): string {
  const { text, canFail } = printTypedCondition(condition, { module, body, readable });
  if (canFail) throw new CannotFuse('the condition may fail');
  return text;
}

/** A class for the rows of one side that wait: objects of one form. */
function printClass(side: KeptSide, { program }: StreamFusion): string {
  const { module } = program;
  const name = module.names.mint('c');
  const assigned = side.kept.map((one) => `this.${one.property}=${one.name};`).join('');
  const parameters = side.kept.map((one) => one.name).join(',');
  module.declare(`function ${name}(${parameters}){${assigned}this.arrival=0;this.isMatched=false;this.row=null;this.next=null;}`);
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

/** The function for a row that arrives with its key: it meets those that wait on the other side, and takes its place. */
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
      if (plan.join !== 'inner') body.add(`const ${held}=${made};`);
      const meeting = printPartners({ slot, key, held, place });
      const conditions = printOwnConditions(slot, place, body);
      body.add(conditions === '' ? meeting : `if(${conditions}){${meeting}}`);
      printHold({ slot, key, held, made, side, plan, waiting, body });
      if (plan.join !== 'inner') fusion.watch(waiting, body);
    },
  );
}

/** The function for a row of an outer side that has no key. */
function printWait(slot: number, className: string, { fusion, kernel, waiting, sides }: JoinPlace): string {
  const parameters = (sides[slot] as KeptSide).kept.map(({ name }) => name);
  return fusion.program.module.function(
    () => parameters,
    (body) => {
      body.add(`${kernel}.waitAlone(${slot},new ${className}(${parameters.join(',')}));`);
      fusion.watch(waiting, body);
    },
  );
}

interface Hold {
  readonly slot: number;
  readonly key: string;
  readonly held: string;
  readonly made: string;
  readonly side: KeptSide;
  readonly plan: JoinSourcePlan;
  readonly waiting: string;
  readonly body: Body;
}

function printHold(hold: Hold): void {
  if (newestOf(hold.plan) === 1) printLatest(hold);
  else if (newestOf(hold.plan) < Infinity) printNewest(hold);
  else printAll(hold);
}

/** The newest row of a side is written over. */
function printLatest({ slot, key, held, made, side, waiting, body }: Hold): void {
  const place = `${key}.${slot === 0 ? 'left' : 'right'}`;
  body.add(`const ${held}=${place};`);
  body.add(`if(${held}===null)${waiting}.hold(${key},${slot},${place}=${made},true);`);
  body.add(`else{${assigned(side, held)}${waiting}.hold(${key},${slot},${held},false);}`);
}

/** The oldest of the newest n is written over. */
function printNewest({ slot, key, held, made, side, waiting, body }: Hold): void {
  const list = `${key}.${listOf(slot)}`;
  body.add(`let ${held}=${waiting}.recycled(${list});`);
  body.add(`if(${held}===null){${held}=${made};${list}.push(${held});${waiting}.hold(${key},${slot},${held},true);}`);
  body.add(`else{${assigned(side, held)}${waiting}.hold(${key},${slot},${held},false);}`);
}

function assigned(side: KeptSide, held: string): string {
  return side.kept.map(({ name, property }) => `${held}.${property}=${name};`).join('');
}

/** Those of an outer join go when they end, and one that is over already at once. */
function printAll({ slot, key, held, made, plan, waiting, body }: Hold): void {
  const list = `${key}.${listOf(slot)}`;
  if (plan.join === 'inner') body.add(`const ${held}=${made};${waiting}.trimmed(${key},${list}).push(${held});`);
  else body.add(`${list}.push(${held});`);
  body.add(`${waiting}.hold(${key},${slot},${held},true);`);
  if (plan.join !== 'inner') body.add(`${waiting}.endIfOver(${key},${slot},${held});`);
}

/** Conditions that the arriving row alone decides, before any partner is looked for. Of an outer join `.where` comes too late. */
function printOwnConditions(slot: number, { plan, fusion, sides }: JoinPlace, body: Body): string {
  const readable = new ArrivingReadable(slot, sides[slot] as KeptSide);
  const filters = plan.join === 'inner' ? leadingFilters(fusion.plan.operators) : [];
  const conditions = [...(plan.residual === null ? [] : [plan.residual]), ...filters].flatMap(conjuncts);
  return conditions.flatMap((condition) => printOwnCondition(condition, readable, body, fusion) ?? []).join('&&');
}

/** Undefined when the condition needs a partner, or may fail. */
function printOwnCondition(
  condition: PlanExpression,
  readable: ArrivingReadable,
  body: Body,
  { program }: StreamFusion,
): string | undefined {
  const printed = program.attempt(() => printWithoutFailure(condition, readable, body, program), body);
  return printed instanceof CannotFuse ? undefined : printed;
}

/** Conditions of the `.where` directly behind the join. */
function leadingFilters(operators: readonly OperatorPlan[]): readonly PlanExpression[] {
  const end = operators.findIndex((one) => !isKeepingRow(one));
  const leading = end < 0 ? operators : operators.slice(0, end);
  return leading.filter((one): one is FilterPlan => one.kind === 'filter').map(({ condition }) => condition);
}

function conjuncts(condition: PlanExpression): readonly PlanExpression[] {
  if (condition.kind !== 'logical' || condition.operator !== 'and') return [condition];
  return [...conjuncts(condition.left), ...conjuncts(condition.right)];
}

interface Meeting {
  readonly slot: number;
  readonly key: string;
  readonly held: string;
  readonly place: JoinPlace;
}

/** The rows of the other side: each one that is near enough goes on with the arriving one. */
function printPartners({ slot, key, held, place }: Meeting): string {
  const { plan, sides, waiting, fusion } = place;
  const { names } = fusion.program.module;
  const partner = names.mint('p');
  const near = plan.withinMs === null ? 'true' : `${waiting}.meets(${(sides[slot] as KeptSide).arrivingTime},${partner}.time)`;
  const meets = place.condition === null ? near : `${near}&&${printCall(place.condition, slot, partner, place)}`;
  const marks = plan.join === 'inner' ? '' : `${held}.isMatched=true;${partner}.isMatched=true;`;
  const call = `{${marks}${printCall(place.result, slot, partner, place)};}`;
  if (newestOf(plan) === 1) return `const ${partner}=${key}.${slot === 0 ? 'right' : 'left'};if(${partner}!==null&&${meets})${call}`;
  const others = `${key}.${listOf(1 - slot)}`;
  const trimmed = plan.withinMs === null ? others : `${waiting}.trimmed(${key},${others})`;
  return `for(let ${partner}=${trimmed}.first;${partner}!==null;${partner}=${partner}.next){if(${meets})${call}}`;
}

/** The call of a function of two rows, with what it reads of them. */
function printCall({ name, given }: PrintedFunction, slot: number, partner: string, { sides }: JoinPlace): string {
  const own = sides[slot] as KeptSide;
  const time = own.arrivingTime;
  const values = given.flatMap((side, at) => side.map((value) => (at === slot ? value.name : `${partner}.${value.property}`)));
  const later = `${time}<${partner}.time?${partner}.time:${time}`;
  return `${name}(${[later, own.arrivingOrder, own.arrivingType, time, ...values].join(',')})`;
}

function listOf(slot: number): string {
  return slot === 0 ? 'lefts' : 'rights';
}
