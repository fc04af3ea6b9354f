import { invariant } from '../../../shared/errors/error.ts';
import { aggregateOver } from '../../../shared/language/functions/index.ts';
import type {
  AttributeName,
  ClosureAggregateExpression,
  PlanExpression,
  PlanStatement,
  RowReference,
} from '../../../shared/language/plan/plan.ts';
import { Body } from '../fusion/module-text.ts';
import { printTyped, printTypedCondition } from '../fusion/print-typed.ts';
import type { OwnNode, Readable, Typed } from '../fusion/typed.ts';
import type { TypedContext } from '../fusion/typed-context.ts';
import { localName, type Names } from './names.ts';

/** What printing an expression needs of what stands around it. */
export interface PrintContext {
  readonly names: Names;
  /** Name of the scope in which it runs. */
  readonly scope: string;
  /** Prints the body of a block, which returns its value. */
  statements(body: readonly PlanStatement[], context: PrintContext): string;
}

/**
 * The text of an expression. It may stand anywhere a JavaScript expression may: it is a name, a call, a literal, or in
 * parentheses.
 */
export function printExpression(plan: PlanExpression, context: PrintContext): string {
  return printTyped(plan, contextOf(context)).text;
}

/** An expression as a JavaScript condition: true exactly when its value is `true`. */
export function printCondition(plan: PlanExpression, context: PrintContext): string {
  return printTypedCondition(plan, contextOf(context)).text;
}

/** Nothing is known of a value before it is there, so nothing is computed in the text itself: the function needs no temporaries. */
function contextOf(context: PrintContext): TypedContext {
  return { module: context.names, body: new Body(context.names), readable: new ScopeReadable(context) };
}

/** What an expression reads of the scope that it is given when it runs. */
class ScopeReadable implements Readable {
  readonly isUntyped = true;
  readonly time: string;
  readonly #context: PrintContext;
  readonly #names: Names;
  readonly #scope: string;

  constructor(context: PrintContext) {
    this.#context = context;
    this.#names = context.names;
    this.#scope = context.scope;
    this.time = `${context.scope}.row.time`;
  }

  field(of: RowReference, name: string): Typed {
    return any(`${of.kind === 'current' ? 'fieldOf' : 'fieldIn'}(${this.#row(of)},${this.#names.constant(name)})`);
  }

  attribute(of: RowReference, name: AttributeName): Typed {
    return any(`${of.kind === 'current' ? 'attributeOf' : 'attributeIn'}(${this.#row(of)},${this.#names.constant(name)})`);
  }

  aggregate(index: number): Typed {
    return any(`(${this.#scope}.aggregates[${index}]??null)`);
  }

  closure({ function: name, argument, constants, slot }: ClosureAggregateExpression): Typed {
    const names = this.#names;
    const descriptor = aggregateOver(name, argument?.type);
    invariant(descriptor !== undefined, `no aggregate is called ${name}`);
    const inner = names.mint('s');
    const input = argument === null ? 'null' : `(${inner})=>(${printExpression(argument, { ...this.#context, scope: inner })})`;
    return any(`closureAggregate(${names.constant(descriptor)},${names.constant(constants)},${this.#scope},${slot},${input})`);
  }

  unlessFirst({ slot, condition }: { readonly slot: number; readonly condition: PlanExpression }): Typed {
    return any(`(isUnbound(${this.#scope}.bound[${slot}])?true:${this.#print(condition)})`);
  }

  own(node: OwnNode): Typed {
    switch (node.kind) {
      case 'row':
        return any(node.of.kind === 'items' ? `fieldsOfAll(${this.#scope}.bound[${node.of.slot}])` : `fieldsOf(${this.#row(node.of)})`);
      case 'local':
        return any(localName(node.slot));
      case 'global':
        return any(`readGlobal(${node.global})`);
      case 'invoke':
        return any(`invoke(${node.function},[${node.arguments.map((one) => this.#print(one)).join(',')}],${this.#scope}.row)`);
      case 'lambda':
        return any(`lambda(${node.parameters.length},(${node.parameters.map(localName).join(',')})=>(${this.#print(node.body)}))`);
      case 'block':
        return any(`(()=>{${this.#context.statements(node.body, this.#context)}})()`);
    }
  }

  #print(plan: PlanExpression): string {
    return printExpression(plan, this.#context);
  }

  #row(of: RowReference): string {
    if (of.kind === 'current') return `${this.#scope}.row`;
    const binding = `${this.#scope}.bound[${of.slot}]`;
    if (of.kind === 'slot') return `boundRow(${binding})`;
    if (of.at === 'first') return `firstOf(${binding})`;
    if (of.at === 'last') return `lastOf(${binding})`;
    if (of.at === 'prev') return `prevOf(${binding})`;
    return `itemAt(${binding},${this.#print(of.at)})`;
  }
}

/** A value of any kind. */
function any(text: string): Typed {
  return { text, as: 'value', isNullable: true, isSimple: false, canFail: true };
}
