import type { FunctionPlan, Plan, PlanExpression } from '../../../shared/language/plan/plan.ts';
import { makesValues } from '../evaluate/making.ts';
import { collectExpressions, collectSlots } from './collect.ts';
import { localName, Names } from './names.ts';
import { type PrintContext, printExpression } from './print-expression.ts';
import { printBody } from './print-statements.ts';

/** A program as text: compiled, it returns `[expressions, functions]` in the order of `expressions` and of the plan. */
export interface GeneratedModule {
  readonly text: string;
  readonly constants: readonly unknown[];
  readonly expressions: readonly PlanExpression[];
}

/** Prints every expression and function of a program. The text depends on the plan alone. */
export function printModule(plan: Plan): GeneratedModule {
  return print(collectExpressions(plan), plan.functions);
}

/** Prints one expression; the functions that it calls stand in the module of the program. */
export function printAlone(expression: PlanExpression): GeneratedModule {
  return print([expression], []);
}

function print(expressions: readonly PlanExpression[], functions: readonly FunctionPlan[]): GeneratedModule {
  const names = new Names();
  const expressionTexts = expressions.map((expression) => printRoot(expression, names));
  const functionTexts = functions.map((one) => printFunction(one, names));
  const text = `'use strict';\nreturn [[\n${expressionTexts.join(',\n')}\n],[\n${functionTexts.join(',\n')}\n]];\n`;
  return { text, constants: names.constants, expressions };
}

/** `(scope) => value`. Only what may run into a limit of the runtime is guarded. */
function printRoot(expression: PlanExpression, names: Names): string {
  const context = contextOf(names);
  const printed = printExpression(expression, context);
  const value = makesValues(expression) ? `(beginMaking(),${printed})` : printed;
  const slots = collectSlots(expression).map((slot) => `let ${localName(slot)}=slotOf(${context.scope},${slot});`);
  if (!needsGuard(expression))
    return slots.length === 0 ? `(${context.scope})=>(${value})` : `(${context.scope})=>{${slots.join('')}return ${value};}`;
  const thrown = names.mint('v');
  return `(${context.scope})=>{${slots.join('')}try{return ${value};}catch(${thrown}){throw failure(${thrown});}}`;
}

/** `(scope, parameters..) => value`; the remaining locals begin as null. */
function printFunction(plan: FunctionPlan, names: Names): string {
  const context = contextOf(names);
  const slots = Array.from({ length: plan.locals }, (_, slot) => localName(slot));
  const parameters = [context.scope, ...slots.slice(0, plan.parameters.length)];
  const rest = slots.slice(plan.parameters.length).map((name) => `let ${name}=null;`);
  return `(${parameters.join(',')})=>{${rest.join('')}${printBody(plan.body, context)}}`;
}

function contextOf(names: Names): PrintContext {
  return { names, scope: names.mint('s'), statements: printBody };
}

/** Nodes that only read, compare and compute with small values; nothing in them recurses or grows. */
const flat: ReadonlySet<string> = new Set([
  'constant',
  'field',
  'attribute',
  'local',
  'aggregate',
  'is_null',
  'unary',
  'logical',
  'if',
  'unless_first',
]);
const numeric: ReadonlySet<string> = new Set(['int', 'float', 'bool', 'str', 'timestamp', 'duration', 'null']);

function needsGuard(plan: PlanExpression): boolean {
  if (plan.kind === 'binary') return !isSimple(plan.left) || !isSimple(plan.right) || needsGuard(plan.left) || needsGuard(plan.right);
  if (!flat.has(plan.kind)) return true;
  switch (plan.kind) {
    case 'unary':
    case 'is_null':
      return needsGuard(plan.operand);
    case 'logical':
      return needsGuard(plan.left) || needsGuard(plan.right);
    case 'if':
      return needsGuard(plan.condition) || needsGuard(plan.then) || needsGuard(plan.otherwise);
    case 'unless_first':
      return needsGuard(plan.condition);
    default:
      return false;
  }
}

/** A value whose comparison cannot go deep. */
function isSimple(plan: PlanExpression): boolean {
  return numeric.has(plan.type.kind);
}
