import type { FilterPlan } from '../../../../shared/language/plan/plan.ts';
import type { Row } from '../../operators/row.ts';
import type { Columns } from '../columns.ts';
import { type FunctionForm, functionForm, isLocal, isNumber } from '../function-form.ts';
import type { FusedRuntime } from '../fused-runtime.ts';
import type { ConstantOfStream, ModuleText } from '../module-text.ts';
import { printNumber } from '../print-typed.ts';
import type { FusedInlet } from '../shared-functions.ts';
import type { RuleBounds } from './finder.ts';
import { columnsOf, type RuleIndex, ruleIndex, takesList } from './rule-index.ts';

/** From so many streams with a condition on one input on they are looked up, not tried one after the other. */
export const RULES_MIN = 9;

/** A stream that reads the rows and the function that takes them, which may be that of another stream of the same shape. */
export interface PrintedRule {
  readonly stream: number;
  readonly bounds: RuleBounds;
  /** Its first condition, where the index decides it. */
  readonly decided: FilterPlan | null;
  readonly inlet: FusedInlet;
  /** The stream of the same shape whose function it takes; null = it has its own. */
  readonly like: number | null;
}

/** What rules are looked up for: the bounds of each, the values that the index is asked with, the origin, and the row, where one is wanted. */
export interface LookedUp {
  readonly bounds: readonly RuleBounds[];
  readonly lookup: string;
  readonly origin: string;
  readonly row: string | null;
}

/** A constant of a rule's function: its text, or what each stream has as its own. */
type RuleConstant = string | OwnConstant;
type OwnConstant = ConstantOfStream<FusedRuntime>;

/** Names that the functions of all rules share: which rule it is, and the results of each. */
export interface RuleNames {
  readonly rule: string;
  readonly counts: string;
}

/** What the index of some rules is made from when the program runs. */
class RulesOf {
  readonly bounds: readonly RuleBounds[];
  readonly runtime: FusedRuntime;
  readonly streams: readonly number[];

  constructor(bounds: readonly RuleBounds[], runtime: FusedRuntime, streams: readonly number[]) {
    this.bounds = bounds;
    this.runtime = runtime;
    this.streams = streams;
  }
}

/** Called by the module when it is loaded. */
export function makeRules({ bounds, runtime, streams }: RulesOf): RuleIndex {
  const index = ruleIndex(
    bounds,
    streams.map((stream) => runtime.node(stream).counters),
  );
  runtime.beforeCounting(index.settleCounts);
  return index;
}

/** Constants of many rules in a row: numbers stand one beside the other. Called by the module. */
export function numbersOf(numbers: readonly number[]): Float64Array {
  return Float64Array.from(numbers);
}

type Module = ModuleText<FusedRuntime>;

/** Rules whose functions have one form: their places among all rules, their streams, and their constants. */
interface RulesOfForm {
  readonly form: FunctionForm;
  readonly places: number[];
  readonly streams: number[];
  readonly constants: (readonly RuleConstant[])[];
}

/** What an index is asked with: the value of its only column and the place of that, or the values of all columns. */
export function lookupOf(bounds: readonly RuleBounds[], columns: Columns): string {
  const fields = columnsOf(bounds).map((column) => columns.field({ kind: 'current' }, column));
  const values = fields.map((field) => field?.text ?? 'null');
  if (takesList(bounds)) return `[${values.join(',')}]`;
  return [...values, ...(fields[0]?.place === undefined ? [] : [fields[0].place()])].join(',');
}

/** Prints the call that looks rules up and runs those that a row may fit. Functions that differ in constants become one. */
export function printRules(rules: readonly PrintedRule[], lookedUp: LookedUp, module: Module, names: RuleNames): string {
  const inlets = new Set(rules.map(({ inlet }) => inlet));
  const given = new Map([...inlets].flatMap((inlet) => inlet.arguments).map((one) => [one, one]));
  for (const one of given.keys()) if (!isLocal(one)) given.set(one, module.names.mint('p'));
  const forms = [...formsOf(rules, given, module, names).values()];
  const [index, starts, found] = [module.names.mint('g'), module.names.mint('g'), module.names.mint('g')];
  const { bounds } = lookedUp;
  const streams = rules.map(({ stream }) => stream);
  const made = module.late((runtime) => new RulesOf(bounds, runtime, streams));
  module.declare(`const ${index}=makeRules(${made});`);
  module.declare(`const ${starts}=${index}.starts;const ${found}=${index}.rules;const ${names.counts}=${index}.counts;`);
  const printed = printCall(forms, { module, names, given });
  const call = lookedUp.row === null ? printed : `${printAsked(rules, { ...lookedUp, row: lookedUp.row, index, module, names })}${printed}`;
  const [list, at] = [module.names.mint('s'), module.names.mint('y')];
  const loop = `for(let ${at}=${starts}[${list}];${at}<${starts}[${list}+1];${at}++)`;
  return `const ${list}=${index}.find(${lookedUp.lookup});${loop}{const ${names.rule}=${found}[${at}];${call}}`;
}

interface Asked {
  readonly origin: string;
  readonly row: string;
  readonly index: string;
  readonly module: Module;
  readonly names: RuleNames;
}

/** Where the index could not decide a rule's condition, the row goes to the stream's own operators, and the next rule follows. */
function printAsked(rules: readonly PrintedRule[], { origin, row, index, module, names: { rule } }: Asked): string {
  // Each is made when it is first asked: most never are.
  const receiver = module.late((runtime) => {
    const made: ((row: Row) => void)[] = [];
    return (place: number) => {
      made[place] ??= runtime.node((rules[place] as PrintedRule).stream).receivers(origin)[0] as (row: Row) => void;
      return made[place];
    };
  });
  const [asks, asked] = [module.names.mint('g'), module.names.mint('g')];
  module.declare(`const ${asks}=${index}.asks;const ${asked}=${index}.asked;`);
  return `if(${asks}[${rule}]===1){${asked}[${rule}]++;${receiver}(${rule})(${row});continue;}`;
}

/** What the functions of rules are given, and what each of that is called in them: a name keeps its own. */
type Given = ReadonlyMap<string, string>;

/** A function of a rule in its form: the rules that have that form, and its constants. */
type FormOfFunction = readonly [rules: RulesOfForm, constants: readonly RuleConstant[]];

function formsOf(
  rules: readonly PrintedRule[],
  given: Given,
  module: Module,
  { rule, counts }: RuleNames,
): ReadonlyMap<string, RulesOfForm> {
  const forms = new Map<string, RulesOfForm>();
  const ofFunction = (inlet: FusedInlet): FormOfFunction => {
    const named = inlet.arguments.map((one) => given.get(one) as string);
    const form = functionForm({ ...module.functionOf(inlet.name), arguments: named }, [rule, counts]);
    const constants = form.constants.map((name) => module.constantOfStream(name) ?? name);
    const key = `${constants.map((one) => typeof one === 'string')} ${form.key}`;
    const same = forms.get(key) ?? { form, places: [], streams: [], constants: [] };
    forms.set(key, same);
    return [same, constants];
  };
  const byFunction = new Map<string, FormOfFunction>();
  rules.forEach(({ inlet, stream }, place) => {
    let known = byFunction.get(inlet.name);
    if (known === undefined) {
      known = ofFunction(inlet);
      byFunction.set(inlet.name, known);
    }
    const [same, constants] = known;
    same.places.push(place);
    same.streams.push(stream);
    same.constants.push(constants);
  });
  return forms;
}

interface Calling {
  readonly module: Module;
  readonly names: RuleNames;
  readonly given: Given;
}

/** The call of a rule's function. Where there are several, each finds its constants by the rule's place in its own form. */
function printCall(forms: readonly RulesOfForm[], { module, names: { rule }, given }: Calling): string {
  if (forms.length === 1) {
    const name = printForm(forms[0] as RulesOfForm, rule, [rule, ...given.values()], module);
    return `${name}(${[rule, ...given.keys()].join(',')});`;
  }
  const own = module.names.mint('p');
  const parameters = [rule, own, ...given.values()];
  const byPlace: string[] = [];
  const ownPlaces: number[] = [];
  for (const one of forms) {
    const name = printForm(one, own, parameters, module);
    one.places.forEach((place, at) => {
      byPlace[place] = name;
      ownPlaces[place] = at;
    });
  }
  const [functions, places] = [module.names.mint('g'), module.names.mint('g')];
  module.declare(`const ${functions}=[${byPlace.join(',')}];const ${places}=[${ownPlaces.join(',')}];`);
  return `${functions}[${rule}](${[rule, `${places}[${rule}]`, ...given.keys()].join(',')});`;
}

/** A function for all rules of a form. What is the same in all of them stands in it; the rest it finds at `place`. */
function printForm({ form, constants, streams }: RulesOfForm, place: string, parameters: readonly string[], module: Module): string {
  const texts = form.constants.map((_, at) => {
    const all = constants.map((one) => one[at] as RuleConstant);
    const print = typeof all[0] === 'string' ? printNames(all as string[], module) : printOwn(all as OwnConstant[], streams, module);
    return print(place);
  });
  const name = module.names.mint('f');
  module.declare(`const ${name}=(${parameters.join(',')})=>{${form.body((at) => texts[at] as string)}};`);
  return name;
}

/** Text of a constant by the place of a rule. */
type PrintedConstant = (place: string) => string;

function printNames(names: readonly string[], module: Module): PrintedConstant {
  const [first] = names as [string];
  if (names.every((name) => name === first)) return () => first;
  const column = module.names.mint('g');
  const list = `[${names.join(',')}]`;
  module.declare(`const ${column}=${names.every(isNumber) ? `numbersOf(${list})` : list};`);
  return (place) => `${column}[${place}]`;
}

/** What each stream has as its own, as one constant of the module. */
function printOwn(constants: readonly OwnConstant[], streams: readonly number[], module: Module): PrintedConstant {
  const valuesOf = (runtime: FusedRuntime): unknown[] => constants.map((one, at) => one.of(streams[at] as number, runtime));
  if (constants.some(({ isKnown }) => !isKnown)) {
    const late = module.late(valuesOf);
    return (place) => `${late}[${place}]`;
  }
  const values = valuesOf(undefined as never);
  const [first] = values;
  if (values.every((value) => Object.is(value, first))) {
    return () => (typeof first === 'number' ? printNumber(first, module) : module.constant(first));
  }
  const column = module.constant(values.every((value) => typeof value === 'number') ? Float64Array.from(values) : values);
  return (place) => `${column}[${place}]`;
}
