import type { Argument, Call, Expression, Lambda, Name } from '../../ast/nodes.ts';
import { foreignFunction } from '../../diagnostics/foreign-words.ts';
import { nearestName } from '../../diagnostics/nearest-name.ts';
import type { FunctionDescriptor, Parameter } from '../../functions/descriptor.ts';
import { refusedFunctions } from '../../functions/index.ts';
import type { InvokeExpression, LambdaExpression, PlanExpression } from '../../plan/plan.ts';
import { ANY, alwaysFits, isAssignable, printType, type Type } from '../../plan/types.ts';
import type { FunctionSymbol } from '../symbols.ts';
import { unwrapped } from '../walk.ts';
import { acceptedTypes } from './accepted.ts';
import { requireBool } from './bools.ts';
import { findAggregate, findFunction, functionNames } from './builtins.ts';
import { isExpression, lowerClosureCall, type NamedCall, namedCall } from './closures.ts';
import { fold, UNRESOLVED } from './fold.ts';
import { lowerClosureItem, namespacePath } from './members.ts';
import { didYouMean } from './names.ts';
import type { Place } from './place.ts';

/** A call: of a closure's reading, a function of the program, a function of the language. */
export function lowerCall(node: Call, place: Place): PlanExpression {
  const closure = lowerClosureItem(node, place) ?? lowerClosureCall(node, place);
  if (closure) return closure;
  const path = namespacePath(unwrapped(node.callee), place);
  if (path) return namespacedCall(node, path, place);
  const call = namedCall(node);
  if (!call) return notCallable(node, place);
  const symbol = unwrapped(node.callee).kind === 'Name' ? place.context.symbols.find('function', call.name) : undefined;
  if (symbol) return lowerInvocation(symbol, node, place);
  const callee = findFunction(call.name);
  return callee ? lowerBuiltin({ callee, call, node }, place) : unknownFunction(call, node, place);
}

function namespacedCall(node: Call, path: string, place: Place): PlanExpression {
  const { symbols } = place.context;
  const root = path.split('.')[0] as string;
  symbols.useNamespace(root);
  const symbol = symbols.find('function', path);
  if (symbol) return lowerInvocation(symbol, node, place);
  const valuePath = path.slice(0, path.lastIndexOf('.'));
  if (symbols.find('value', valuePath)) return lowerMethodOfValue(node, place);
  const nearest = nearestName(path, symbols.names('function'));
  place.context.report('E033', node.callee.span, `\`${root}\` declares no function \`${path}\``, nearest && didYouMean(nearest));
  return UNRESOLVED;
}

/** `common.LIMITS.len()`. */
function lowerMethodOfValue(node: Call, place: Place): PlanExpression {
  const call = namedCall(node);
  const callee = call && findFunction(call.name);
  return call && callee ? lowerBuiltin({ callee, call, node }, place) : notCallable(node, place);
}

function notCallable(node: Call, { context }: Place): PlanExpression {
  context.report('E050', node.callee.span, 'only functions can be called');
  return UNRESOLVED;
}

function unknownFunction({ name }: NamedCall, node: Call, place: Place): PlanExpression {
  const { context, scope } = place;
  const refused = refusedFunctions.get(name);
  const span = node.callee.kind === 'Member' ? node.callee.name.span : node.callee.span;
  if (refused) context.report('E050', span, `unknown function \`${name}\``, refused);
  else if (findAggregate(name))
    context.report('E073', span, misplacedAggregate(name), onceHint(node, place) ?? aggregateHint(scope.bareWindow === true));
  else context.report('E050', span, `unknown function \`${name}\``, functionHint(name, place));
  for (const argument of node.arguments) lowerLoose(argument, place);
  return UNRESOLVED;
}

function misplacedAggregate(name: string): string {
  return `the aggregate \`${name}\` cannot stand here`;
}

function aggregateHint(bareWindow: boolean): string {
  return bareWindow
    ? 'write `.aggregate(n: ..)` behind the window and read `n`'
    : 'aggregates stand in `.aggregate(n: ..)`, or read a closure: `sum(b.f)`';
}

/** For what reads a closure, of a step that looks like one. */
function onceHint({ arguments: [first] }: Call, { scope }: Place): string | undefined {
  let root = first && isExpression(first.value) ? unwrapped(first.value) : undefined;
  while (root?.kind === 'Member') root = unwrapped(root.object);
  const meaning = root?.kind === 'Name' ? scope.meaning(root.name) : undefined;
  if (root?.kind !== 'Name' || meaning?.kind !== 'row' || !meaning.once) return undefined;
  return `\`${root.name}\` is one event, as a step with \`{1}\` is: read \`${root.name}.f\`, or write \`{1,}\` for a closure`;
}

function functionHint(name: string, { context }: Place): string | undefined {
  const own = context.symbols.find('function', name);
  const foreign = foreignFunction(name);
  if (foreign !== undefined) return foreign;
  if (own) return `write ${name}(x, ..): only functions of the language are called as methods`;
  const nearest = nearestName(name, [...context.symbols.names('function'), ...functionNames()]);
  return nearest && didYouMean(nearest);
}

/** Lowers an argument for the mistakes in it. */
function lowerLoose({ value }: Argument, place: Place): void {
  if (isExpression(value) && value.kind !== 'Lambda') place.lower(value);
}

/** A call of a function of the program. `.process` alone may call one that emits. */
export function lowerInvocation(symbol: FunctionSymbol, node: Call, place: Place, mayEmit = false): InvokeExpression {
  const { context } = place;
  symbol.declare();
  const args = plainArguments(node.arguments, symbol.name, place);
  const { parameters } = symbol;
  if (args.length !== parameters.length) {
    const wanted = `${parameters.length} argument${parameters.length === 1 ? '' : 's'}`;
    context.report('E051', node.span, `\`${symbol.name}\` takes ${wanted}, not ${args.length}`);
  }
  args.forEach(({ value, argument }, position) => {
    const parameter = parameters[position];
    if (!parameter || isAssignable(value.type, parameter.type)) return;
    const found = `\`${symbol.name}\` takes ${printType(parameter.type)} as \`${parameter.name}\`, not ${printType(value.type)}`;
    context.report('E062', argument.span, found);
  });
  if (
    !alwaysFitParameters(
      args.map(({ value }) => value),
      symbol,
    )
  )
    place.scope.frame.doubtfulCalls++;
  symbol.prepare();
  if (mayEmit) symbol.used = true;
  else context.noteInvocation(symbol, node.callee.span, place.scope.emits);
  return { kind: 'invoke', function: symbol.index, arguments: args.map(({ value }) => value), type: symbol.result };
}

/** Nothing is looked at when a call passes it. */
export function alwaysFitParameters(args: readonly PlanExpression[], { parameters }: FunctionSymbol): boolean {
  return args.every(({ type }, position) => alwaysFits(type, parameters[position]?.type ?? ANY));
}

interface LoweredArgument {
  readonly argument: Argument;
  readonly value: PlanExpression;
}

function plainArguments(args: readonly Argument[], name: string, place: Place): LoweredArgument[] {
  return args.flatMap((argument) => {
    const node = plainArgument(argument, name, place);
    return node ? [{ argument, value: place.lower(node) }] : [];
  });
}

/** The expression of an argument of a function, which has no name and is no operator's special form. */
function plainArgument(argument: Argument, name: string, { context }: Place): Expression | undefined {
  if (!isExpression(argument.value)) {
    context.report('E051', argument.span, `\`${name}\` takes expressions`);
    return undefined;
  }
  if (argument.name)
    context.report('E051', argument.name.span, `arguments of functions have no names`, `write ${name}(..) with the values in order`);
  if (argument.order) context.report('E051', argument.span, `\`${argument.order}\` belongs into \`.order_by\``);
  return argument.value;
}

interface BuiltinCall {
  readonly callee: FunctionDescriptor;
  readonly call: NamedCall;
  readonly node: Call;
}

function lowerBuiltin({ callee, call, node }: BuiltinCall, place: Place): PlanExpression {
  const nodes: Expression[] = [];
  for (const argument of call.arguments) {
    const plain = plainArgument(argument, call.name, place);
    if (plain) nodes.push(plain);
  }
  if (!hasRightCount(callee, nodes.length)) {
    place.context.report('E051', node.span, `\`${call.name}\` takes ${countText(callee)}, not ${nodes.length}`);
    for (const argument of call.arguments) lowerLoose(argument, place);
    return { ...UNRESOLVED, type: callee.result(nodes.map(() => ANY)) };
  }
  const args = lowerBuiltinArguments({ callee, name: call.name, nodes }, place);
  const types = args.map((arg) => (arg.kind === 'lambda' ? arg.body.type : arg.type));
  checkTypesTogether({ callee, types, node }, place);
  checkConstantArguments(callee, args, node, place);
  const expression: PlanExpression = { kind: 'call', function: callee.name, arguments: args, type: callee.result(types) };
  // Most calls are of something that is no constant.
  if (args.some(({ kind }) => kind !== 'constant')) return expression;
  if (callee.name !== 'now') return fold(expression, { callee, spend: (items) => place.context.spend('constants', items, node.span) });
  const message = '`now()` is the time of the current event or result, not the clock of the machine';
  place.context.reportOnce('W042', 'W042', node.span, message, 'write `timestamp` to say so');
  return expression;
}

function hasRightCount({ parameters }: FunctionDescriptor, count: number): boolean {
  let required = 0;
  for (const { optional, variadic } of parameters) if (!optional && !variadic) required++;
  return count >= required && (count <= parameters.length || parameters.at(-1)?.variadic === true);
}

function countText({ parameters }: FunctionDescriptor): string {
  const required = parameters.filter((parameter) => !parameter.optional && !parameter.variadic).length;
  if (parameters.at(-1)?.variadic) return `at least ${required} argument${required === 1 ? '' : 's'}`;
  const range = required === parameters.length ? `${required}` : `${required} to ${parameters.length}`;
  return `${range} argument${range === '1' ? '' : 's'}`;
}

interface BuiltinArguments {
  readonly callee: FunctionDescriptor;
  readonly name: string;
  readonly nodes: readonly Expression[];
}

function lowerBuiltinArguments({ callee, name, nodes }: BuiltinArguments, place: Place): PlanExpression[] {
  if (callee.parameters.some(({ lambda }) => lambda !== undefined)) return lowerWithLambdas({ callee, name, nodes }, place);
  const values = nodes.map((node) => place.lower(node));
  for (let at = 0; at < values.length; at++) {
    const parameter = callee.parameters[at] ?? callee.parameters.at(-1);
    if (parameter) checkArgumentType({ parameter, name, node: nodes[at] as Expression }, values[at] as PlanExpression, place);
  }
  return values;
}

/** Values first, since the parameters of a lambda depend on their types. */
function lowerWithLambdas({ callee, name, nodes }: BuiltinArguments, place: Place): PlanExpression[] {
  const parameterAt = (position: number): Parameter | undefined => callee.parameters[position] ?? callee.parameters.at(-1);
  const values = nodes.map((node, position) => (parameterAt(position)?.lambda ? undefined : place.lower(node)));
  return nodes.map((node, position) => {
    const parameter = parameterAt(position);
    const value = values[position];
    if (!parameter) return value ?? UNRESOLVED;
    if (value === undefined) return lambdaArgument({ node, parameter, name, types: values.map((one) => one?.type ?? ANY) }, place);
    checkArgumentType({ parameter, name, node }, value, place);
    return value;
  });
}

interface TypesCheck {
  readonly callee: FunctionDescriptor;
  readonly types: readonly Type[];
  readonly node: Call;
}

/** What of arguments does not go together, when each of them by itself is what its parameter takes. */
function checkTypesTogether({ callee, types, node }: TypesCheck, { context }: Place): void {
  const areAccepted = types.every((type, at) => isAccepted(type, callee.parameters[at] ?? callee.parameters.at(-1)));
  const found = areAccepted ? callee.checkTypes?.(types) : undefined;
  if (found) context.report('E062', node.span, found.problem, found.hint);
}

function isAccepted(type: Type, parameter: Parameter | undefined): boolean {
  return !parameter || parameter.lambda !== undefined || parameter.types.some((accepted) => isAssignable(type, accepted));
}

interface ArgumentCheck {
  readonly parameter: Parameter;
  readonly name: string;
  readonly node: Expression;
}

function checkArgumentType({ parameter, name, node }: ArgumentCheck, value: PlanExpression, { context, scope }: Place): void {
  if (isAccepted(value.type, parameter)) return;
  const message = `\`${name}\` takes ${acceptedTypes(parameter)} as \`${parameter.name}\`, not ${printType(value.type)}`;
  const isAggregate = findAggregate(name) !== undefined;
  if (isAggregate && scope.bareWindow) context.report('E073', node.span, misplacedAggregate(name), aggregateHint(true));
  else context.report('E062', node.span, message, isAggregate ? aggregateHint(false) : undefined);
}

interface LambdaArgument extends ArgumentCheck {
  readonly types: readonly Type[];
}

/** A lambda, or the name of a function in its place. */
function lambdaArgument({ node, parameter, name, types }: LambdaArgument, place: Place): PlanExpression {
  const written = unwrapped(node);
  const lambda = written.kind === 'Lambda' ? written : functionAsLambda(written, parameter, place);
  const parameters = parameter.lambda?.parameterTypes(types) ?? [];
  if (!lambda) {
    place.context.report('E062', node.span, `\`${name}\` takes a function as \`${parameter.name}\``, 'write x => ..');
    place.lower(node);
    return emptyLambda();
  }
  if (!parameter.lambda?.arities.includes(lambda.parameters.length)) {
    const wanted = parameter.lambda?.arities.join(' or ');
    place.context.report('E051', lambda.span, `the function for \`${name}\` has ${wanted} parameters, not ${lambda.parameters.length}`);
  }
  const lowered = place.lowerLambda(lambda, parameters);
  if (parameter.lambda?.isCondition) requireBool(lambda.body, lowered.body.type, place.context);
  return lowered;
}

function emptyLambda(): LambdaExpression {
  return { kind: 'lambda', parameters: [], body: UNRESOLVED, text: '', type: ANY };
}

/** `map(xs, upper)` is `map(xs, x => upper(x))`. */
function functionAsLambda(node: Expression, parameter: Parameter, { scope, context }: Place): Lambda | undefined {
  if (node.kind !== 'Name' || scope.meaning(node.name)) return undefined;
  const own = context.symbols.find('function', node.name);
  if (!own && !findFunction(node.name)) return undefined;
  const arities = parameter.lambda?.arities ?? [];
  const count = own && arities.includes(own.node.parameters.length) ? own.node.parameters.length : (arities[0] ?? 1);
  const names = Array.from({ length: count }, (_, position) => `argument ${position + 1}`);
  return {
    kind: 'Lambda',
    span: node.span,
    parameters: names.map((text) => ({ kind: 'Identifier', span: node.span, text, quoted: true })),
    body: { kind: 'Call', span: node.span, callee: node, arguments: names.map((name) => nameArgument(name, node)) },
  };
}

function nameArgument(name: string, { span }: Name): Argument {
  return { kind: 'Argument', span, name: null, value: { kind: 'Name', span, name, quoted: true }, order: null };
}

function checkConstantArguments(callee: FunctionDescriptor, args: readonly PlanExpression[], node: Call, { context }: Place): void {
  if (callee.checkConstants === undefined) return;
  const constants = args.map((arg) => (arg.kind === 'constant' && arg !== UNRESOLVED ? arg.value : undefined));
  const problem = callee.checkConstants(constants);
  if (problem) context.report(problem.code, node.span, problem.message);
}
