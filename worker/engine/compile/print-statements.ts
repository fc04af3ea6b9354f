import type { PlanExpression, PlanStatement } from '../../../shared/language/plan/plan.ts';
import { localName } from './names.ts';
import { type PrintContext, printCondition, printExpression } from './print-expression.ts';

/**
 * A body: its statements, then `return null`. A body with loops counts their passes in an activation of its own, as the
 * reference does for each call of a function and each run of a lambda's block.
 */
export function printBody(body: readonly PlanStatement[], context: PrintContext): string {
  const activation = context.names.mint('a');
  const declaration = body.some(hasLoop) ? `const ${activation}=activation();` : '';
  return `${declaration}${printStatements(body, { ...context, activation })}return null;`;
}

/** Whether a statement counts passes. Lambdas in it have bodies of their own. */
function hasLoop(statement: PlanStatement): boolean {
  if (statement.kind === 'for' || statement.kind === 'while') return true;
  return statement.kind === 'if' && [...statement.branches.flatMap(({ body }) => body), ...statement.otherwise].some(hasLoop);
}

interface BodyContext extends PrintContext {
  readonly activation: string;
}

type Print<K extends PlanStatement['kind']> = (statement: Extract<PlanStatement, { kind: K }>, context: BodyContext) => string;

/** Statements behind which a body does not go on. */
const leaves: ReadonlySet<PlanStatement['kind'] | undefined> = new Set(['return', 'break', 'continue']);

/** Total: a new kind of statement does not compile until it is handled. */
const printers: { readonly [K in PlanStatement['kind']]: Print<K> } = {
  set_local: ({ slot, value }, context) => `${localName(slot)}=${printExpression(value, context)};`,
  set_global: ({ global, value }, context) => `writeGlobal(${global},${printExpression(value, context)});`,
  if: ({ branches, otherwise }, context) => {
    const [first, ...others] = branches.map(({ condition, body }) => ({
      test: `if(${printCondition(condition, context)})`,
      text: printStatements(body, context),
      goesOn: !leaves.has(body.at(-1)?.kind),
    }));
    const last = printStatements(otherwise, context);
    if (first === undefined) return last;
    if (others.length === 0 && first.goesOn) return `${first.test}{${first.text}}${last === '' ? '' : `else{${last}}`}`;
    // One after the other instead of in each other's `else`: a table of thousands of branches would be nested as deep.
    const label = context.names.mint('b');
    const rest = [first, ...others].map(({ test, text, goesOn }) => `${test}{${text}${goesOn ? `break ${label};` : ''}}`).join('') + last;
    return [first, ...others].some(({ goesOn }) => goesOn) ? `${label}:{${rest}}` : rest;
  },
  for: ({ slot, iterable, body }, context) => {
    const item = context.names.mint('v');
    const pass = `${context.activation}.loopStep();${localName(slot)}=${item};`;
    return `for(const ${item} of ${printItems(iterable, context)}){${pass}${printStatements(body, context)}}`;
  },
  while: ({ condition, body }, context) =>
    `while(${printCondition(condition, context)}){${context.activation}.loopStep();${printStatements(body, context)}}`,
  break: () => 'break;',
  continue: () => 'continue;',
  return: ({ value }, context) => `return ${value === null ? 'null' : printExpression(value, context)};`,
  emit: ({ type, items }, context) => {
    const fields = items.map(({ name, value }) => `[${context.names.constant(name)},${printExpression(value, context)}]`);
    return `emit(${context.names.constant(type)},fieldsFrom([${fields.join(',')}]));`;
  },
  expression: ({ value }, context) => `${printExpression(value, context)};`,
};

function printStatements(statements: readonly PlanStatement[], context: BodyContext): string {
  return statements
    .map((statement) => (printers[statement.kind] as (s: PlanStatement, c: BodyContext) => string)(statement, context))
    .join('\n');
}

function printItems(plan: PlanExpression, context: BodyContext): string {
  if (plan.kind !== 'range') return `itemsOf(${printExpression(plan, context)})`;
  return `rangeItems(${printExpression(plan.from, context)},${printExpression(plan.to, context)},${plan.inclusive})`;
}
