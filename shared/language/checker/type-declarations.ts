import type { FieldDeclaration } from '../ast/nodes.ts';
import { nearestName } from '../diagnostics/nearest-name.ts';
import type { FieldType, RecordType } from '../plan/types.ts';
import type { CheckContext } from './context.ts';
import { didYouMean } from './expressions/names.ts';
import type { AliasSymbol, EventSymbol, RecordSymbol, TypeSymbol } from './symbols.ts';
import { refuseLargeType } from './type-chains.ts';
import { resolveType, useNamespaceOf } from './type-expressions.ts';

/** How far the preparation of a symbol is. */
type Progress = 'under way' | 'done';
const progress = new WeakMap<TypeSymbol, Progress>();

/** True when the symbol is still to be prepared. A type that needs itself is reported. */
function begins(symbol: TypeSymbol, context: CheckContext): boolean {
  const known = progress.get(symbol);
  if (known === 'under way') {
    const message = `the type \`${symbol.name}\` contains itself`;
    context.report('E008', symbol.node.name.span, message, 'write `any` for the part that repeats it');
  }
  if (known === undefined) progress.set(symbol, 'under way');
  return known === undefined;
}

function finish(symbol: TypeSymbol, context: CheckContext): void {
  refuseLargeType(symbol, context);
  progress.set(symbol, 'done');
}

export function prepareEvent(symbol: EventSymbol, context: CheckContext): void {
  if (!begins(symbol, context)) return;
  const parent = parentOf(symbol, context);
  const inherited = parent?.type.fields ?? [];
  const own = fieldsOf(symbol.node.fields, inherited, context);
  symbol.type = { kind: 'record', name: symbol.name, fields: [...inherited, ...own] } satisfies RecordType;
  symbol.ancestors = parent ? [parent.name, ...parent.ancestors] : [];
  symbol.timeField = symbol.type.fields.find((field) => field.type.kind === 'timestamp')?.name ?? null;
  finish(symbol, context);
}

function parentOf({ node, name }: EventSymbol, context: CheckContext): EventSymbol | undefined {
  if (!node.parent) return undefined;
  const { text, span } = node.parent;
  const parent = context.symbols.event(text);
  if (!parent) {
    const nearest = nearestName(
      text,
      context.symbols.names('type').filter((known) => known !== name),
    );
    context.report('E033', span, `\`${name}\` extends the unknown event \`${text}\``, nearest && didYouMean(nearest));
    return undefined;
  }
  useNamespaceOf(text, context);
  parent.used = true;
  if (progress.get(parent) === 'under way') {
    context.report('E008', span, `\`${name}\` extends itself`);
    return undefined;
  }
  parent.prepare();
  return parent;
}

export function prepareRecord(symbol: RecordSymbol, context: CheckContext): void {
  if (!begins(symbol, context)) return;
  symbol.type = { kind: 'record', name: symbol.name, fields: fieldsOf(symbol.node.fields, [], context) };
  finish(symbol, context);
}

export function prepareAlias(symbol: AliasSymbol, context: CheckContext): void {
  if (!begins(symbol, context) || !symbol.node.alias) return;
  const resolved = resolveType(symbol.node.alias, context);
  symbol.type = resolved.type;
  symbol.optional = resolved.optional;
  finish(symbol, context);
}

function fieldsOf(declarations: readonly FieldDeclaration[], inherited: readonly FieldType[], context: CheckContext): FieldType[] {
  const known = new Set(inherited.map((field) => field.name));
  const fields: FieldType[] = [];
  for (const { name, type: written } of declarations) {
    const { type, optional } = resolveType(written, context);
    if (known.has(name.text)) context.report('E001', name.span, `the field \`${name.text}\` is declared twice`);
    else fields.push({ name: name.text, type, optional });
    known.add(name.text);
  }
  return fields;
}

/** Once all events are prepared: which types an event type stands for as a source, in order of declaration. */
export function linkDescendants(events: readonly EventSymbol[]): void {
  const descendants = new Map<string, string[]>(events.map(({ name }) => [name, [name]]));
  for (const { name, ancestors } of events) for (const ancestor of ancestors) descendants.get(ancestor)?.push(name);
  for (const event of events) event.types = descendants.get(event.name) ?? [event.name];
}
