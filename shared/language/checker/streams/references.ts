import type { Identifier, OperatorCall, Span } from '../../ast/nodes.ts';
import { nearestName } from '../../diagnostics/nearest-name.ts';
import { name } from '../../format/names.ts';
import type { CheckContext } from '../context.ts';
import { dotted, type EventSymbol, type PatternSymbol, type StreamSymbol } from '../symbols.ts';

/** What the name of a source, a step or an input stands for. */
export type Reference =
  | { readonly kind: 'event'; readonly type: string; readonly symbol: EventSymbol | null }
  | { readonly kind: 'stream'; readonly symbol: StreamSymbol }
  | { readonly kind: 'late'; readonly symbol: StreamSymbol }
  | { readonly kind: 'branch'; readonly symbol: StreamSymbol; readonly branch: string }
  | { readonly kind: 'pattern'; readonly symbol: PatternSymbol };

/**
 * Resolves the name of a source as seen in the stream `within`: a stream, a declared event, a named pattern, `X.late`, a
 * branch `X.name`, else an undeclared event type (W030). In its own declaration a stream's name is the event of that name,
 * if one is declared. Reports E033 and gives undefined for what can only be wrong; marks what it finds as used.
 */
export function resolveReference(path: readonly Identifier[], within: StreamSymbol | null, context: CheckContext): Reference | undefined {
  const found = findReference(path, within, context);
  if (found) {
    markUsed(found, path, context);
    return found;
  }
  if (path.length === 1) return undeclared(dotted(path), spanOf(path), context);
  return reportUnknownPath(path, context);
}

/** As `resolveReference` for what is declared; reports and marks nothing. */
export function findReference(path: readonly Identifier[], within: StreamSymbol | null, context: CheckContext): Reference | undefined {
  const known = knownReference(dotted(path), within, context);
  if (known || path.length === 1) return known;
  const last = (path.at(-1) as Identifier).text;
  const symbol = context.symbols.find('stream', dotted(path.slice(0, -1)));
  if (!symbol) return undefined;
  if (branchNames(symbol.node.operators).includes(last)) return { kind: 'branch', symbol, branch: last };
  return last === 'late' ? { kind: 'late', symbol } : undefined;
}

function knownReference(name: string, within: StreamSymbol | null, context: CheckContext): Reference | undefined {
  const stream = context.symbols.find('stream', name);
  const event = eventOf(name, context);
  const pattern = context.symbols.find('pattern', name);
  if (stream && !(stream === within && event)) return { kind: 'stream', symbol: stream };
  if (event) return { kind: 'event', type: event.name, symbol: event };
  return pattern && { kind: 'pattern', symbol: pattern };
}

/** The event of that name, or the one that a `type T = Event` stands for. */
function eventOf(name: string, context: CheckContext): EventSymbol | undefined {
  const event = context.symbols.event(name);
  if (event) return event;
  const alias = context.symbols.find('type', name);
  if (alias?.kind !== 'alias' || alias.type.kind !== 'record') return undefined;
  const { name: type } = alias.type;
  return context.table.events.find((symbol) => symbol.name === type);
}

function undeclared(type: string, span: Span, context: CheckContext): Reference | undefined {
  if (context.symbols.find('type', type)) {
    context.report('E033', span, `\`${type}\` is a type of values, not an event`, `declare \`event ${type}:\` to use it as a source`);
    return undefined;
  }
  const hint = (): string => {
    const nearest = nearestName(type, context.symbols.sourceNames());
    return nearest ? `did you mean \`${nearest}\`?` : `declare it: \`event ${name({ text: type, quoted: false })}:\` with its fields`;
  };
  context.reportOnce(`undeclared:${type}`, 'W030', span, `event type \`${type}\` is not declared`, hint);
  return { kind: 'event', type, symbol: null };
}

function reportUnknownPath(path: readonly Identifier[], context: CheckContext): undefined {
  const head = dotted(path.slice(0, -1));
  const last = path.at(-1) as Identifier;
  const stream = context.symbols.find('stream', head);
  if (stream) reportUnknownBranch(stream, last, context);
  else if (last.text === 'late' && !context.symbols.isNamespace(head)) {
    const nearest = nearestName(head, context.symbols.names('stream'));
    context.report(
      'E033',
      last.span,
      `\`${head}\` is no stream, and only a stream has late events`,
      nearest ? `did you mean \`${nearest}.late\`?` : undefined,
    );
  } else reportUnknownName(path, context);
}

function reportUnknownBranch(stream: StreamSymbol, name: Identifier, context: CheckContext): void {
  const branches = branchNames(stream.node.operators);
  const nearest = nearestName(name.text, [...branches, 'late']);
  const known = branches.length > 0 ? `its branches are ${branches.map((branch) => `\`${branch}\``).join(', ')}` : 'it has no `.fork`';
  const hint = nearest ? `did you mean \`${stream.name}.${nearest}\`?` : known;
  context.report('E033', name.span, `stream \`${stream.name}\` has no branch \`${name.text}\``, hint);
}

function reportUnknownName(path: readonly Identifier[], context: CheckContext): void {
  const nearest = nearestName(dotted(path), context.symbols.sourceNames());
  const first = (path[0] as Identifier).text;
  const why = context.symbols.isNamespace(first)
    ? `\`${first}\` declares no event, stream or pattern \`${dotted(path.slice(1))}\``
    : `\`${first}\` is neither an import nor a stream`;
  context.report('E033', spanOf(path), why, nearest ? `did you mean \`${nearest}\`?` : undefined);
}

/** The names of the branches of the forks in a chain, those of forks in branches included. */
function branchNames(operators: readonly OperatorCall[]): readonly string[] {
  return operators
    .filter((operator) => operator.name.text === 'fork')
    .flatMap((operator) => operator.arguments)
    .flatMap(({ name, value }) => [...(name ? [name.text] : []), ...(value.kind === 'Chain' ? branchNames(value.operators) : [])]);
}

/** Marks what a reference names, and the import it came through, as used. */
function markUsed(reference: Reference, path: readonly Identifier[], context: CheckContext): void {
  if (reference.symbol) reference.symbol.used = true;
  const [first] = path;
  if (first && path.length > 1 && context.symbols.isNamespace(first.text)) context.symbols.useNamespace(first.text);
}

export function spanOf(path: readonly Identifier[]): Span {
  return { start: path[0]?.span.start ?? 0, end: path.at(-1)?.span.end ?? 0 };
}
