import type { FilterPlan, JoinSourcePlan, OperatorPlan, PlanExpression } from '../../../../shared/language/plan/plan.ts';
import { isOuter, JoinKernel, newestOf } from '../../joins/join-kernel.ts';
import { isUnitless } from '../../joins/join-key.ts';
import { isKeepingRow } from '../../operators/operator-facts.ts';
import type { KernelNode } from '../../physical/physical-plan.ts';
import type { SourceOptions } from '../../sources/source-options.ts';
import type { StreamContext } from '../fusion-context.ts';
import { Body } from '../module-text.ts';
import { conditionOf } from '../print-typed.ts';
import type { DecidedKernel } from '../program-fusion.ts';
import type { FusedInlet } from '../shared-functions.ts';
import { type Readable, Refusal, type Representation, representationOf } from '../typed.ts';
import { ArrivingReadable, JoinColumns, ResidualReadable } from './join-columns.ts';
import { KeptSide } from './kept-side.ts';

/** A join as it is decided: what the functions of its inputs call. */
export interface DecidedJoin extends DecidedKernel {
  readonly sides: readonly DecidedSide[];
  /** Of the only part of the key; null = the key is a canonical text. */
  readonly keyAs: Representation | null;
  /** All fields of the sides are read. */
  readonly isWhole: boolean;
}

export interface DecidedSide {
  readonly side: KeptSide;
  /** The function for a row with a key. */
  readonly arrive: string;
  /** The function for a row without one: it only waits for its end; null = nothing follows from that. */
  readonly wait: string | null;
}

/** What the functions of one join have in common. */
interface JoinPlace {
  readonly plan: JoinSourcePlan;
  readonly fusion: StreamContext;
  readonly sides: readonly KeptSide[];
  readonly result: PairFunction;
  readonly condition: PairFunction | null;
  /** Names of the kernel and of what it keeps. */
  readonly kernel: string;
  readonly waiting: string;
}

/** A function of two rows. */
interface PairFunction {
  readonly name: string;
  /** What it is given of each side. */
  readonly given: readonly KeptSide['given'][];
}

/** Decides what follows the join, then a function for the arrivals of each side. */
export function decideJoin(plan: JoinSourcePlan, fusion: StreamContext): DecidedJoin | Refusal {
  const { program } = fusion;
  const { module } = program;
  const sides = plan.sides.map((side) => new KeptSide(side, program.plan, module));
  const columns = new JoinColumns(sides, module);
  const condition = decideCondition(plan, { fusion, sides, columns });
  if (condition instanceof Refusal) return condition;
  const result = decideResult(plan, { fusion, sides, columns });
  if (result instanceof Refusal) return result;
  const kernel = module.late((runtime) => runtime.kernel(plan));
  const waiting = module.late((runtime) => (runtime.kernel(plan) as JoinKernel | undefined)?.waiting);
  const place: JoinPlace = { plan, fusion, sides, result, condition, kernel, waiting };
  const classes = sides.map((side) => rowClass(side, fusion));
  const arrivals = sides.map((_, slot) => defineArrive(slot, classes[slot] as RowClass, place));
  const wake = new Body(module.names);
  wake.add(`${fusion.node}.schedule();`);
  const links = [
    ...sides.flatMap((side, slot) => [arrivals[slot] as string, ...defineMakers(side, classes[slot] as RowClass, fusion)]),
    module.define(() => [], wake),
  ];
  const form = { sides: sides.map((side) => side.form(columns.isWhole)), keyAs: keyRepresentation(plan) };
  const create = (_plan: JoinSourcePlan, options: SourceOptions): JoinKernel => new JoinKernel(plan, options, form);
  const decided = sides.map((side, slot) => ({
    side,
    arrive: arrivals[slot] as string,
    wait: isOuter(plan, slot) ? defineWait(slot, classes[slot] as RowClass, place) : null,
  }));
  return { sides: decided, keyAs: form.keyAs, isWhole: columns.isWhole, create, links: () => links, node: nodeOf(plan, sides) };
}

function nodeOf({ join, sides: [first] }: JoinSourcePlan, sides: readonly KeptSide[]): KernelNode {
  const keeps = sides.flatMap(({ name, columns }) => [`${name}.timestamp`, ...columns.map((column) => `${name}.${column}`)]);
  const keys = first?.keys.length === 0 ? [] : [`the ${first?.keys.length === 1 ? 'key' : 'keys'} of \`.on\``];
  return { name: `${join} join of 2 sides`, keys, keeps, sharedWith: [] };
}

/** How keys stand in the table: as they are where both sides have one part of the same kind. */
function keyRepresentation(plan: JoinSourcePlan): Representation | null {
  const asKept = (as: Representation, part: number): Representation => (as === 'duration' && isUnitless(plan, part) ? 'number' : as);
  const [first, second] = plan.sides.map(({ keys }) => keys.map(({ type }, part) => asKept(representationOf(type), part)));
  const isRaw = first?.length === 1 && first[0] !== 'value' && first[0] === second?.[0];
  return isRaw ? (first[0] as Representation) : null;
}

/** What follows two rows that met: the stream's chain. The condition of an inner join stands there too. */
function decideResult({ residual, join }: JoinSourcePlan, place: ResultPlace): PairFunction | Refusal {
  const { fusion, columns } = place;
  return decidePair(place, (body, arrivingTime) => {
    if (residual !== null && join === 'inner') {
      const condition = withoutFailure(residual, new ResidualReadable(columns, arrivingTime), body, fusion);
      if (condition instanceof Refusal) return condition;
      body.addEnd(() => `if(!${condition()})return;`);
    }
    return fusion.chain(columns, body);
  });
}

/** The condition of an outer join: it alone says whether rows have met, whatever becomes of the result. */
function decideCondition({ residual, join }: JoinSourcePlan, place: ResultPlace): PairFunction | Refusal | null {
  if (residual === null || join === 'inner') return null;
  return decidePair(place, (body, arrivingTime) => {
    const condition = withoutFailure(residual, new ResidualReadable(place.columns, arrivingTime), body, place.fusion);
    if (condition instanceof Refusal) return condition;
    body.add(() => `return ${condition()};`);
    return null;
  });
}

interface ResultPlace {
  readonly fusion: StreamContext;
  readonly sides: readonly KeptSide[];
  readonly columns: JoinColumns;
}

/** A function that is given what it reads of two rows. */
function decidePair(
  { fusion, sides, columns }: ResultPlace,
  decide: (body: Body, arrivingTime: string) => Refusal | null,
): PairFunction | Refusal {
  const { module } = fusion.program;
  const arrivingTime = module.names.mint('t');
  const body = new Body(module.names);
  const refused = decide(body, arrivingTime);
  if (refused !== null) return refused;
  const given = sides.map((side) => side.given);
  const parameters = [columns.time, columns.order, columns.type, arrivingTime, ...given.flat().map((one) => one.name)];
  return { name: module.define(() => parameters, body), given };
}

/** Prints a condition; refused where it may fail. */
function withoutFailure(
  condition: PlanExpression,
  readable: Readable,
  body: Body,
  { program: { module } }: StreamContext,
): (() => string) | Refusal {
  const typed = conditionOf(condition, { module, body, readable });
  if (typed instanceof Refusal) return typed;
  return typed.canFail ? new Refusal('the condition may fail') : () => typed.text;
}

/** Prints the class for the rows of one side that wait, unless it stands there: objects of one form. Gives its name. */
type RowClass = () => string;

function rowClass(side: KeptSide, { program }: StreamContext): RowClass {
  const { module } = program;
  const name = module.names.mint('c');
  return () =>
    program.once(`class:${name}`, () => {
      const assigned = side.kept.map((one) => `this.${one.property}=${one.name};`).join('');
      const parameters = side.kept.map((one) => one.name).join(',');
      module.declare(`function ${name}(${parameters}){${assigned}this.arrival=0;this.isMatched=false;this.row=null;this.next=null;}`);
      return name;
    });
}

/** Functions for the kernel: that makes what waits, and that makes a row of it. */
function defineMakers(side: KeptSide, made: RowClass, { program }: StreamContext): readonly string[] {
  const { module } = program;
  const parameters = side.kept.map(({ name }) => name);
  const [create, toRow] = [new Body(module.names), new Body(module.names)];
  create.add(() => `return new ${made()}(${parameters.join(',')});`);
  const waiting = module.names.mint('p');
  toRow.add(() => `return ${side.row(waiting)};`);
  return [module.define(() => parameters, create), module.define(() => [waiting], toRow)];
}

/** The function for a row that arrives with its key: it meets those that wait on the other side, and takes its place. */
function defineArrive(slot: number, rowClass: RowClass, place: JoinPlace): string {
  const { fusion, waiting, plan } = place;
  const { module } = fusion.program;
  const side = place.sides[slot] as KeptSide;
  const [raw, key, held] = [module.names.mint('v'), module.names.mint('h'), module.names.mint('p')];
  const body = new Body(module.names);
  body.add(() => {
    const made = `new ${rowClass()}(${side.kept.map(({ name }) => name).join(',')})`;
    return printArrive(raw, { slot, key, held, made, place }, body);
  });
  if (plan.join !== 'inner') fusion.watch(waiting, body);
  return module.define(() => side.parameters(raw), body);
}

/** A row that arrives, as texts: what waits at its key, the name of what is held of it, and what makes that. */
interface Arriving {
  readonly slot: number;
  readonly key: string;
  readonly held: string;
  readonly made: string;
  readonly place: JoinPlace;
}

/** `raw`: the key as the table has it. */
function printArrive(raw: string, arriving: Arriving, body: Body): string {
  const { slot, key, held, made, place } = arriving;
  const { plan, fusion, kernel, waiting } = place;
  const conditions = printOwnConditions(slot, place, body);
  const meeting = printPartners(arriving);
  return [
    `const ${key}=${waiting}.keys.at(${raw});`,
    mayBeLate(place) ? `if(${kernel}.isLate(${place.sides[slot]?.arrivingTime}))${kernel}.late(${slot},${made});` : '',
    `if(${key}.rows>0){${kernel}.meetRows(${key},${slot},${made});${fusion.node}.schedule();return;}`,
    plan.join === 'inner' ? '' : `const ${held}=${made};`,
    conditions === '' ? meeting : `if(${conditions}){${meeting}}`,
    printHold(arriving),
  ].join('');
}

/** Rows of any two times meet in a join without a window, and with `out_of_order` rows come in order of time. */
function mayBeLate({ plan, fusion }: JoinPlace): boolean {
  return plan.withinMs !== null && fusion.plan.time.outOfOrderMs === 0;
}

/** The function for a row of an outer side that has no key. */
function defineWait(slot: number, made: RowClass, { fusion, kernel, waiting, sides }: JoinPlace): string {
  const { module } = fusion.program;
  const parameters = (sides[slot] as KeptSide).kept.map(({ name }) => name);
  const body = new Body(module.names);
  body.add(() => `${kernel}.waitAlone(${slot},new ${made()}(${parameters.join(',')}));`);
  fusion.watch(waiting, body);
  return module.define(() => parameters, body);
}

/** The row takes its place among those that wait on its side. */
function printHold({ slot, key, held, made, place: { plan, sides, waiting } }: Arriving): string {
  const list = `${key}.${listOf(slot)}`;
  const again = `else{${assigned(sides[slot] as KeptSide, held)}${waiting}.hold(${key},${slot},${held},false);}`;
  if (newestOf(plan) === 1) {
    // The newest row of a side is written over.
    const place = `${key}.${slot === 0 ? 'left' : 'right'}`;
    return `const ${held}=${place};if(${held}===null)${waiting}.hold(${key},${slot},${place}=${made},true);${again}`;
  }
  if (newestOf(plan) < Infinity) {
    // The oldest of the newest n is written over.
    const first = `${held}=${made};${list}.push(${held});${waiting}.hold(${key},${slot},${held},true);`;
    return `let ${held}=${waiting}.recycled(${list});if(${held}===null){${first}}${again}`;
  }
  const holding = `${waiting}.hold(${key},${slot},${held},true);`;
  if (plan.join === 'inner') return `const ${held}=${made};${waiting}.trimmed(${key},${list}).push(${held});${holding}`;
  // Those of an outer join go when they end, and one that is over already at once.
  return `${list}.push(${held});${holding}${waiting}.endIfOver(${key},${slot},${held});`;
}

function assigned(side: KeptSide, held: string): string {
  return side.kept.map(({ name, property }) => `${held}.${property}=${name};`).join('');
}

/** Conditions that the arriving row alone decides, before any partner is looked for. Of an outer join `.where` comes too late. */
function printOwnConditions(slot: number, { plan, fusion, sides }: JoinPlace, body: Body): string {
  const readable = new ArrivingReadable(slot, sides[slot] as KeptSide);
  const filters = plan.join === 'inner' ? leadingFilters(fusion.plan.operators) : [];
  const conditions = [...(plan.residual === null ? [] : [plan.residual]), ...filters].flatMap(conjuncts);
  const own = conditions.map((condition) => withoutFailure(condition, readable, body, fusion));
  return own.flatMap((print) => (print instanceof Refusal ? [] : print())).join('&&');
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

/** The rows of the other side: each one that is near enough goes on with the arriving one. */
function printPartners({ slot, key, held, place }: Arriving): string {
  const { plan, sides, waiting, fusion } = place;
  const { module } = fusion.program;
  const partner = module.names.mint('p');
  const near = plan.withinMs === null ? 'true' : `${waiting}.meets(${(sides[slot] as KeptSide).arrivingTime},${partner}.time)`;
  const meets = place.condition === null ? near : `${near}&&${module.call(pairCall(place.condition, slot, partner, place))}`;
  const marks = plan.join === 'inner' ? '' : `${held}.isMatched=true;${partner}.isMatched=true;`;
  const call = `{${marks}${module.call(pairCall(place.result, slot, partner, place))};}`;
  if (newestOf(plan) === 1) return `const ${partner}=${key}.${slot === 0 ? 'right' : 'left'};if(${partner}!==null&&${meets})${call}`;
  const others = `${key}.${listOf(1 - slot)}`;
  const trimmed = plan.withinMs === null ? others : `${waiting}.trimmed(${key},${others})`;
  return `for(let ${partner}=${trimmed}.first;${partner}!==null;${partner}=${partner}.next){if(${meets})${call}}`;
}

/** The call of a function of two rows, with what it reads of them. */
function pairCall({ name, given }: PairFunction, slot: number, partner: string, { sides }: JoinPlace): FusedInlet {
  const own = sides[slot] as KeptSide;
  const time = own.arrivingTime;
  const values = given.flatMap((side, at) => side.map((value) => (at === slot ? value.name : `${partner}.${value.property}`)));
  const later = `${time}<${partner}.time?${partner}.time:${time}`;
  return { name, arguments: [later, own.arrivingOrder, own.arrivingType, time, ...values] };
}

function listOf(slot: number): string {
  return slot === 0 ? 'lefts' : 'rights';
}
