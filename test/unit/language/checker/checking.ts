import { toText } from '../../../../shared/events/text.ts';
import type { Expression } from '../../../../shared/language/ast/nodes.ts';
import { check } from '../../../../shared/language/checker/check.ts';
import type { CheckContext } from '../../../../shared/language/checker/context.ts';
import { loadProgram } from '../../../../shared/language/checker/load.ts';
import { lowerExpression } from '../../../../shared/language/checker/lower.ts';
import type { CheckOptions } from '../../../../shared/language/checker/options.ts';
import { CheckState, contextOf } from '../../../../shared/language/checker/program-context.ts';
import { ProgramTable } from '../../../../shared/language/checker/program-table.ts';
import type { NameScope } from '../../../../shared/language/checker/scope.ts';
import { linkDescendants } from '../../../../shared/language/checker/type-declarations.ts';
import { LoadedModule } from '../../../../shared/language/checker/visible-names.ts';
import { type Diagnostic, SourceText } from '../../../../shared/language/diagnostics/diagnostic.ts';
import { parseExpression } from '../../../../shared/language/grammar/parse.ts';
import type { PlanExpression } from '../../../../shared/language/plan/plan.ts';
import { printType } from '../../../../shared/language/plan/types.ts';

/** Files of a program by name; `main.vpl` is the one that is checked. */
export type Files = Readonly<Record<string, string>>;

export function checkText(text: string, imports: Files = {}, options: CheckOptions = {}): ReturnType<typeof check> {
  const sources = new Map(Object.entries(imports).map(([name, content]) => [name, new SourceText(name, content)]));
  return check(new SourceText('main.vpl', text), { resolveImport: (path) => sources.get(path), ...options });
}

/** One line for each diagnostic: position, code, message and hint. */
export function diagnose(text: string, imports: Files = {}): string {
  return checkText(text, imports).diagnostics.map(printed).join('\n');
}

/** The diagnostics without those that small programs get by being small. */
export function problems(text: string, imports: Files = {}): string {
  return checkText(text, imports)
    .diagnostics.filter(({ code }) => code !== 'W040')
    .map(printed)
    .join('\n');
}

export function printed({ source, span, code, message, hint }: Diagnostic): string {
  const { line, column } = source.position(span.start);
  const isUnnamed = source.name === 'main.vpl' || source.name.startsWith('expression ');
  const file = isUnnamed ? '' : `${source.name}:`;
  return `${file}${line}:${column} ${code} ${message}${hint === undefined ? '' : ` (${hint})`}`;
}

/** A context over the declarations of a program, for lowering expressions on their own. */
export function contextFor(declarations: string): CheckContext {
  const state = new CheckState({}, new ProgramTable());
  const main = new LoadedModule(new SourceText('main.vpl', declarations), true);
  loadProgram(main, state);
  for (const event of state.table.events) event.prepare();
  linkDescendants(state.table.events);
  return contextOf(state, main);
}

export interface LoweredText {
  readonly expression: PlanExpression;
  readonly text: string;
  readonly diagnostics: string;
}

let parsedCount = 0;

export function parsed(text: string, context: CheckContext): { readonly node: Expression; readonly context: CheckContext } {
  // A name of its own, since one code at one place of a file is reported once.
  const source = new SourceText(`expression ${++parsedCount}`, text);
  const { expression, diagnostics } = parseExpression(source);
  if (!expression) throw new Error(diagnostics.map(printed).join('\n'));
  return { node: expression, context: context.in({ source, symbols: context.symbols, isMain: false }) };
}

/** An expression lowered in a scope, with the diagnostics that it adds. */
export function lowerText(text: string, scope: NameScope | ((context: CheckContext) => NameScope), context: CheckContext): LoweredText {
  const before = context.diagnostics.length;
  const { node, context: view } = parsed(text, context);
  const expression = lowerExpression(node, typeof scope === 'function' ? scope(view) : scope, view);
  const diagnostics = context.diagnostics.slice(before).map(printed).join('\n');
  return { expression, text: show(expression), diagnostics };
}

/** A plan expression in a short notation: what it reads, and its type. */
function show(node: PlanExpression): string {
  return `${brief(node)}: ${printType(node.type)}`;
}

export function brief(node: PlanExpression): string {
  switch (node.kind) {
    case 'constant':
      return typeof node.value === 'string' ? JSON.stringify(node.value) : toText(node.value);
    case 'field':
      return `${reference(node.of)}.${node.name}`;
    case 'attribute':
      return `${reference(node.of)}@${node.name}`;
    case 'row':
      return `row(${node.of.kind === 'items' ? `all $${node.of.slot}` : reference(node.of)})`;
    case 'local':
      return `local${node.slot}`;
    case 'global':
      return `global${node.global}`;
    case 'aggregate':
      return `#${node.index}`;
    case 'closure':
      return `${node.function}[$${node.slot}](${[node.argument && brief(node.argument), ...node.constants.map(toText)].filter(Boolean).join(', ')})`;
    case 'unless_first':
      return `unless_first[$${node.slot}](${brief(node.condition)})`;
    case 'unary':
      return `${node.operator} ${brief(node.operand)}`;
    case 'binary':
    case 'logical':
      return `(${brief(node.left)} ${node.operator} ${brief(node.right)})`;
    case 'is_null':
      return `${brief(node.operand)} is ${node.negated ? 'not ' : ''}null`;
    case 'if':
      return `(if ${brief(node.condition)} then ${brief(node.then)} else ${brief(node.otherwise)})`;
    case 'array':
      return `[${node.items.map(brief).join(', ')}]`;
    case 'map':
      return `{${node.entries.map(({ key, value }) => `${key}: ${brief(value)}`).join(', ')}}`;
    case 'member':
      return `${brief(node.object)}.${node.name}`;
    case 'index':
      return `${brief(node.object)}[${brief(node.index)}]`;
    case 'slice':
      return `${brief(node.object)}[${node.from ? brief(node.from) : ''}:${node.to ? brief(node.to) : ''}]`;
    case 'range':
      return `${brief(node.from)}..${node.inclusive ? '=' : ''}${brief(node.to)}`;
    case 'template':
      return `f(${node.parts.map((part) => (typeof part === 'string' ? JSON.stringify(part) : brief(part))).join(', ')})`;
    case 'call':
      return `${node.function}(${node.arguments.map(brief).join(', ')})`;
    case 'invoke':
      return `fn${node.function}(${node.arguments.map(brief).join(', ')})`;
    case 'lambda':
      return `(${node.parameters.map((slot) => `local${slot}`).join(', ')}) => ${brief(node.body)}`;
    case 'block':
      return `{${node.body.map((statement) => statement.kind).join('; ')}}`;
  }
}

function reference(of: Extract<PlanExpression, { kind: 'field' }>['of']): string {
  if (of.kind === 'current') return '';
  if (of.kind === 'slot') return `$${of.slot}`;
  return `$${of.slot}[${typeof of.at === 'string' ? of.at : brief(of.at)}]`;
}
