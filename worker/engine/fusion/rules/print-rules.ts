import type { Columns } from '../columns.ts';
import type { FusedRuntime } from '../fused-runtime.ts';
import type { ModuleText } from '../module-text.ts';
import type { FusedInlet } from '../stream-fusion.ts';
import { columnsOf, type PlacedRule, type Rule, type RuleBounds, RuleIndex } from './rule-index.ts';
import { sharedForm } from './shared-form.ts';

/** From so many streams with a condition on one input on they are looked up, not tried one after the other. */
export const RULES_MIN = 9;

/** A stream that reads the rows and the function that takes them. */
export interface PrintedRule {
  readonly stream: number;
  readonly bounds: RuleBounds;
  readonly inlet: FusedInlet;
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
export function makeRules(rules: readonly Rule[], { bounds, runtime, streams }: RulesOf): RuleIndex {
  const placed = rules.map((rule, at): PlacedRule => ({ rule, bounds: bounds[at] as RuleBounds }));
  const index = new RuleIndex(
    placed,
    streams.map((stream) => runtime.node(stream).counters),
  );
  runtime.beforeCounting(() => index.settleCounts());
  return index;
}

/** Prints the call that looks rules up and runs those that a row may fit. Functions that differ in constants become one. */
export function printRules(rules: readonly PrintedRule[], columns: Columns, module: ModuleText<FusedRuntime>): string {
  const rule = module.names.mint('r');
  const given = [...new Set(rules.flatMap(({ inlet }) => inlet.arguments))];
  const forms = new Map<string, string>();
  const objects = rules.map(({ inlet }) => {
    const { body, constants } = sharedForm({ ...module.functionOf(inlet.name), arguments: inlet.arguments }, rule);
    module.leaveOut(inlet.name);
    let name = forms.get(body);
    if (name === undefined) {
      name = module.names.mint('f');
      forms.set(body, name);
      module.declare(`const ${name}=(${[rule, ...given].join(',')})=>{${body}};`);
    }
    return `{${[name, ...constants].map((constant, at) => `x${at}:${constant}`).join(',')}}`;
  });
  return printLookUp(objects, rules, { columns, module, given });
}

interface LookUp {
  readonly columns: Columns;
  readonly module: ModuleText<FusedRuntime>;
  readonly given: readonly string[];
}

function printLookUp(objects: readonly string[], rules: readonly PrintedRule[], { columns, module, given }: LookUp): string {
  const bounds = rules.map((one) => one.bounds);
  const made = module.late(
    (runtime) =>
      new RulesOf(
        bounds,
        runtime,
        rules.map(({ stream }) => stream),
      ),
  );
  const index = module.names.mint('g');
  module.declare(`const ${index}=makeRules([${objects.join(',')}],${made});`);
  const values = columnsOf(bounds).map((column) => columns.field({ kind: 'current' }, column)?.text ?? 'null');
  const [found, at, rule] = [module.names.mint('s'), module.names.mint('y'), module.names.mint('p')];
  const finding = values.length === 1 ? `${index}.find(${values[0]})` : `${index}.findAny([${values.join(',')}])`;
  const call = `${rule}.x0(${[rule, ...given].join(',')});`;
  return `const ${found}=${finding};for(let ${at}=0;${at}<${found}.length;${at}++){const ${rule}=${found}[${at}];${call}}`;
}
