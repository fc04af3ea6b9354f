/**
 * Turns what the grammar read of a pattern (flat lists of items with their suffixes in written order) into the tree:
 * which `within` and which operators belong to a step, to the pattern or to the stream, and what is no pattern at all.
 */
import type {
  Argument,
  Expression,
  Filtered,
  Identifier,
  NamedSource,
  OperatorCall,
  Pattern,
  PatternElement,
  PatternSource,
  Quantifier,
  Span,
  StepArgument,
  StepElement,
} from '../ast/nodes.ts';
import { walk } from '../ast/walk.ts';
import type { Notes } from './notes.ts';

type WhereSuffix = { readonly form: 'where'; readonly span: Span; readonly expression: Expression };
type AliasSuffix = { readonly form: 'as'; readonly span: Span; readonly name: Identifier };
type WithinSuffix = { readonly form: 'within'; readonly span: Span; readonly expression: Expression };
type OperatorSuffix = { readonly form: 'operator'; readonly span: Span; readonly operator: OperatorCall };
type PartitionSuffix = { readonly form: 'partition'; readonly span: Span; readonly keys: readonly Expression[] };
type Suffix = WhereSuffix | AliasSuffix | WithinSuffix | OperatorSuffix;
type TailSuffix = WithinSuffix | OperatorSuffix | PartitionSuffix;

export interface RawStep {
  readonly form: 'step';
  readonly span: Span;
  readonly all: boolean;
  /** Where `NOT` stands, or null. */
  readonly negated: Span | null;
  readonly type: readonly Identifier[];
  readonly quantifier: Quantifier | null;
  readonly suffixes: readonly Suffix[];
}
interface RawGroup {
  readonly form: 'group';
  readonly span: Span;
  readonly pattern: Pattern;
  readonly quantifier: Quantifier | null;
  readonly suffixes: readonly Suffix[];
  readonly end: number;
}
interface RawCall {
  readonly form: 'call';
  readonly span: Span;
  readonly name: 'AND' | 'OR' | 'SEQ' | 'sequence';
  readonly items: readonly { readonly name: Identifier | null; readonly items: RawPattern }[];
  readonly quantifier: Quantifier | null;
  readonly suffixes: readonly Suffix[];
  readonly end: number;
}
/** `NOT (a OR b)`, `NOT OR(a, b)`. */
interface RawNone {
  readonly form: 'none';
  readonly span: Span;
  readonly negated: Span;
  readonly of: Pick<RawGroup, 'form' | 'pattern'> | Omit<RawCall, 'quantifier' | 'suffixes' | 'end'>;
  readonly quantifier: Quantifier | null;
  readonly suffixes: readonly Suffix[];
}
type RawItem = RawStep | RawGroup | RawCall | RawNone;
type Link = '->' | 'AND' | 'OR';

export interface RawPattern {
  readonly first: RawItem;
  readonly rest: readonly { readonly link: Link; readonly item: RawItem }[];
  readonly span: Span;
  readonly tail: readonly TailSuffix[];
}

export interface Flow {
  readonly source: NamedSource | PatternSource;
  readonly operators: readonly OperatorCall[];
}

// ------------------------------------------------------------------------------------------------ where a pattern stands

/** Behind `stream X =`: one plain step is a source, everything else a pattern; trailing operators are the stream's. */
export function finishFlow(raw: RawPattern, notes: Notes): Flow {
  if (isPlain(raw)) return plainFlow(raw.first as RawStep, raw.tail);
  refuseLeadingNot(raw, notes);
  const { kept, operators } = splitOperators(raw);
  const built = buildPattern(raw, { kept, notes, ownWithin: false });
  const tail = raw.tail.filter((suffix) => suffix.form === 'operator').map((suffix) => suffix.operator);
  return {
    source: { kind: 'PatternSource', span: built.span, form: isSequence(raw) ? 'sequence' : 'arrow', pattern: built },
    operators: [...operators, ...tail],
  };
}

/** Behind `pattern P =`: there is no stream, so trailing operators are the pattern's or its last step's. */
export function finishNamed(raw: RawPattern, notes: Notes): Pattern {
  refuseLeadingNot(raw, notes);
  const { kept, operators } = splitOperators(raw);
  const own: Suffix[] = [...kept];
  const tail: TailSuffix[] = [];
  for (const operator of [...operators, ...raw.tail.filter((suffix) => suffix.form === 'operator').map((suffix) => suffix.operator)]) {
    const clause = patternClause(operator);
    if (clause) tail.push(clause);
    else own.push({ form: 'operator', span: operator.span, operator });
  }
  return buildPattern(
    { ...raw, tail: [...raw.tail.filter((suffix) => suffix.form !== 'operator'), ...tail] },
    { kept: own, notes, ownWithin: false },
  );
}

/** In parentheses: a single step keeps its own `within`. */
export function finishGroup(raw: RawPattern, notes: Notes): Pattern {
  const operators = raw.tail.filter((suffix) => suffix.form === 'operator');
  const kept = [...lastItem(raw).suffixes, ...operators];
  return buildPattern(
    { ...raw, tail: raw.tail.filter((suffix) => suffix.form !== 'operator') },
    { kept, notes, ownWithin: raw.rest.length === 0 },
  );
}

/** As an argument of an operator (`.pattern(n: A -> B)`). */
export function finishArgument(raw: RawPattern, notes: Notes): Pattern {
  return buildPattern(raw, { kept: lastItem(raw).suffixes, notes, ownWithin: false });
}

/** An input of a merge or join: a type or stream with operators. */
export function finishInput(step: RawStep, on: readonly OperatorSuffix[], notes: Notes): Flow & { readonly source: NamedSource } {
  if (!isPlainStep(step))
    notes.fail(step.span, 'an input is a type or a stream, not a pattern', 'declare a stream with the pattern and name it here');
  return plainFlow(step, on) as Flow & { readonly source: NamedSource };
}

// ------------------------------------------------------------------------------------------------ plain sources

function isPlain(raw: RawPattern): boolean {
  return raw.rest.length === 0 && raw.first.form === 'step' && isPlainStep(raw.first);
}

function isPlainStep(step: RawStep): boolean {
  const closure = step.suffixes[0]?.form === 'operator' && isMonotone(step.suffixes[0].operator);
  return !step.all && step.negated === null && step.quantifier === null && !closure;
}

/** `A where e as a within d partition by k .op()` is `A as a .where(e).within(d).partition_by(k).op()`. */
function plainFlow(step: RawStep, tail: readonly TailSuffix[]): Flow {
  const aliases = step.suffixes.filter((suffix) => suffix.form === 'as');
  const operators = [...step.suffixes.filter((suffix) => suffix.form !== 'as'), ...tail].map(asOperator);
  const last = step.type.at(-1) as Identifier;
  const alias = aliases[0]?.name ?? null;
  const end = Math.max(last.span.end, alias?.span.end ?? 0);
  return { source: { kind: 'NamedSource', span: { start: step.span.start, end }, path: step.type, alias }, operators };
}

function asOperator(suffix: WhereSuffix | TailSuffix): OperatorCall {
  if (suffix.form === 'operator') return suffix.operator;
  const values = suffix.form === 'partition' ? suffix.keys : [suffix.expression];
  const text = suffix.form === 'partition' ? 'partition_by' : suffix.form;
  const name: Identifier = {
    kind: 'Identifier',
    span: { start: suffix.span.start, end: (values[0] as Expression).span.start },
    text,
    quoted: false,
  };
  return { kind: 'OperatorCall', span: suffix.span, name, as: null, arguments: values.map(positional) };
}

function positional(value: Expression): Argument {
  return { kind: 'Argument', span: value.span, name: null, value, order: null };
}

// ------------------------------------------------------------------------------------------------ building

interface Building {
  /** The suffixes of the last item that stay with it (a trailing `within` still goes to the pattern). */
  readonly kept: readonly Suffix[];
  readonly notes: Notes;
  /** The last step's `within` stays its own. */
  readonly ownWithin: boolean;
}

function buildPattern(raw: RawPattern, { kept, notes, ownWithin }: Building): Pattern {
  const last = lastItem(raw);
  const stays = ownWithin || last.form === 'none' || (last.form === 'step' && last.negated !== null);
  const clauses = kept.map(withinClause);
  const moved = stays ? [] : clauses.filter((suffix) => suffix.form === 'within');
  const own = stays ? clauses : clauses.filter((suffix) => suffix.form !== 'within');
  const links = raw.rest.map(({ link }) => link);
  const items = itemsOf(raw);
  const elements = items.map((item, index) => buildItem(item, index === items.length - 1 ? own : item.suffixes, notes));
  const withins = [...moved, ...raw.tail.filter((suffix) => suffix.form === 'within')];
  if (withins[1])
    notes.report(withins[1].span, 'the pattern has a `within` already', 'a `within` of the last step itself needs parentheses');
  return {
    kind: 'Pattern',
    span: raw.span,
    body: foldLinks(elements, links),
    within: withins[0]?.expression ?? null,
    partitionBy: raw.tail.flatMap((suffix) => (suffix.form === 'partition' ? suffix.keys : [])),
  };
}

/** `.within(d)` as the `within d` that it means. */
function withinClause(suffix: Suffix): Suffix {
  const clause = suffix.form === 'operator' ? stepClause(suffix.operator) : undefined;
  return clause?.form === 'within' ? clause : suffix;
}

/** `->` binds loosest, then `OR`, then `AND`. */
function foldLinks(elements: readonly PatternElement[], links: readonly Link[]): PatternElement {
  const steps = splitAt('->', elements, links).map((part) => {
    const branches = splitAt('OR', part.elements, part.links).map(({ elements: all }) => infix('AndElement', 'infix', all));
    return infix('OrElement', 'infix', branches);
  });
  return infix('SequenceElement', 'arrow', steps);
}

function splitAt(at: Link, elements: readonly PatternElement[], links: readonly Link[]): { elements: PatternElement[]; links: Link[] }[] {
  let part = { elements: [elements[0] as PatternElement], links: [] as Link[] };
  const parts = [part];
  links.forEach((link, index) => {
    const element = elements[index + 1] as PatternElement;
    if (link === at) {
      part = { elements: [element], links: [] };
      parts.push(part);
    } else {
      part.elements.push(element);
      part.links.push(link);
    }
  });
  return parts;
}

type ListElement = Extract<PatternElement, { readonly form: string }>;

function infix(kind: ListElement['kind'], form: ListElement['form'], items: readonly PatternElement[]): PatternElement {
  const [first] = items;
  if (items.length === 1 && first) return first;
  return { kind, form, span: cover(items), items } as ListElement;
}

function cover(items: readonly PatternElement[]): Span {
  return { start: (items[0] as PatternElement).span.start, end: (items.at(-1) as PatternElement).span.end };
}

function buildItem(item: RawItem, suffixes: readonly Suffix[], notes: Notes): PatternElement {
  if (item.form === 'step') return buildStep(item, suffixes, notes);
  if (item.form === 'none') return buildNone(item, suffixes, notes);
  const within = groupWithin(suffixes, notes);
  const span = { start: item.span.start, end: Math.max(item.span.end, item.quantifier?.span.end ?? 0, within?.span.end ?? 0) };
  if (item.form === 'group') {
    return { kind: 'GroupElement', span, pattern: item.pattern, quantifier: item.quantifier, within: within?.expression ?? null };
  }
  const call = buildCall(item, notes);
  if (item.quantifier === null && within === null) return call;
  return { kind: 'GroupElement', span, pattern: bare(call), quantifier: item.quantifier, within: within?.expression ?? null };
}

function bare(body: PatternElement): Pattern {
  return { kind: 'Pattern', span: body.span, body, within: null, partitionBy: [] };
}

/** A group takes a `within` only. */
function groupWithin(suffixes: readonly Suffix[], notes: Notes): WithinSuffix | null {
  let within: WithinSuffix | null = null;
  for (const suffix of suffixes) {
    const clause = suffix.form === 'operator' ? patternClause(suffix.operator) : suffix;
    if (clause?.form !== 'within') {
      const what = suffix.form === 'operator' ? `.${suffix.operator.name.text}` : suffix.form;
      notes.report(suffix.span, `\`${what}\` belongs to a step, not to a group`, 'write it behind a step inside the parentheses');
    } else if (within) notes.report(suffix.span, 'the group has a `within` already');
    else within = clause;
  }
  return within;
}

function buildCall(call: Omit<RawCall, 'quantifier' | 'suffixes' | 'end'>, notes: Notes): PatternElement {
  const items = call.items.map(({ name, items: raw }) => buildCallItem(name, raw, { call, notes }));
  if (call.name === 'AND') return { kind: 'AndElement', span: call.span, form: 'call', items };
  if (call.name === 'OR') return { kind: 'OrElement', span: call.span, form: 'call', items };
  return { kind: 'SequenceElement', span: call.span, form: 'call', items };
}

function buildCallItem(
  name: Identifier | null,
  raw: RawPattern,
  { call, notes }: { call: Pick<RawCall, 'name'>; notes: Notes },
): PatternElement {
  const pattern = finishGroup(raw, notes);
  const element: PatternElement =
    pattern.within === null ? pattern.body : { kind: 'GroupElement', span: raw.span, pattern, quantifier: null, within: null };
  if (name === null) return element;
  if (call.name !== 'sequence') notes.report(name.span, `\`${call.name}(..)\` takes no names`, `write \`as ${name.text}\` behind the step`);
  else if (element.kind !== 'StepElement') notes.report(name.span, 'only a single step can have a name', 'name the steps inside with `as`');
  else if (element.alias) notes.report(element.alias.span, `the step is named \`${name.text}\` already`);
  else return { ...element, alias: name, span: { start: name.span.start, end: element.span.end } };
  return element;
}

// ------------------------------------------------------------------------------------------------ steps

function buildStep(step: RawStep, suffixes: readonly Suffix[], notes: Notes): StepElement {
  if (step.negated && (step.quantifier || step.all)) {
    notes.report(step.quantifier?.span ?? step.negated, 'a `NOT` takes no quantifier', 'a single event already breaks it');
  }
  const sorted = sortSuffixes(suffixes, notes);
  const lastSuffix = suffixes.at(-1);
  return {
    kind: 'StepElement',
    span: { start: step.span.start, end: Math.max(lastSuffix?.span.end ?? 0, stepEnd(step)) },
    all: step.all && step.negated === null,
    negated: step.negated !== null,
    type: step.type,
    quantifier: step.negated ? null : step.quantifier,
    where: sorted.where,
    alias: sorted.alias?.name ?? null,
    within: sorted.within?.expression ?? null,
    operators: sorted.operators,
  };
}

/** None of several: each is a step under the `NOT`, and the time behind them is that of all. */
function buildNone(none: RawNone, suffixes: readonly Suffix[], notes: Notes): PatternElement {
  const { of, quantifier, negated } = none;
  const pattern = of.form === 'group' ? of.pattern : bare(buildCall(of, notes));
  if (quantifier) notes.report(quantifier.span, 'a `NOT` takes no quantifier', 'a single event already breaks it');
  if (pattern.partitionBy[0])
    notes.report(pattern.partitionBy[0].span, 'a `NOT` has no partition of its own', 'write it behind the pattern');
  const behind = groupWithin(suffixes, notes)?.expression ?? null;
  if (behind && pattern.within) notes.report(behind.span, 'the `NOT` has a `within` already');
  const items = alternativesOf(pattern.body).flatMap((item) => alternativeStep(item, notes));
  const within = behind ?? pattern.within;
  const span = { start: negated.start, end: Math.max(none.span.end, within?.span.end ?? 0) };
  if (items.length === 0) return { kind: 'GroupElement', span, pattern, quantifier: null, within: null };
  return { kind: 'NoneElement', span, items, within };
}

/** What stands between the `OR`s, groups of alternatives taken apart. */
function alternativesOf(element: PatternElement): readonly PatternElement[] {
  if (element.kind === 'OrElement') return element.items.flatMap(alternativesOf);
  if (element.kind === 'GroupElement' && isPlainGroup(element)) return alternativesOf(element.pattern.body);
  return [element];
}

function isPlainGroup({ pattern, quantifier, within }: Extract<PatternElement, { kind: 'GroupElement' }>): boolean {
  return quantifier === null && within === null && pattern.within === null && pattern.partitionBy.length === 0;
}

function alternativeStep(element: PatternElement, notes: Notes): readonly StepElement[] {
  const refuse = (problem: string, hint: string): readonly StepElement[] => {
    notes.report(element.span, problem, hint);
    return [];
  };
  if (element.kind !== 'StepElement')
    return refuse('a `NOT` is about single events', 'write `NOT (A OR B)` for none of them; absences in a row are `NOT A -> NOT B`');
  if (element.negated) return refuse('a `NOT` stands in a `NOT`', 'name the events that must not come: `NOT (A OR B)`');
  if (element.quantifier || element.all) return refuse('a `NOT` takes no quantifier', 'a single event already breaks it');
  if (element.within) return refuse('the time of a `NOT` is one for all its events', 'write it behind: `NOT (A OR B) within 5m`');
  return [{ ...element, negated: true }];
}

function stepEnd(step: RawStep): number {
  const head = step.quantifier?.span.end ?? step.type.at(-1)?.span.end ?? 0;
  return step.suffixes.length === 0 ? step.span.end : head;
}

interface SortedSuffixes {
  readonly where: Expression[];
  readonly operators: OperatorCall[];
  alias: AliasSuffix | null;
  within: WithinSuffix | null;
}

function sortSuffixes(suffixes: readonly Suffix[], notes: Notes): SortedSuffixes {
  const sorted: SortedSuffixes = { where: [], operators: [], alias: null, within: null };
  for (const written of suffixes) {
    const suffix = written.form === 'operator' ? (stepClause(written.operator) ?? written) : written;
    if (suffix.form === 'where') sorted.where.push(suffix.expression);
    else if (suffix.form === 'operator') sorted.operators.push(suffix.operator);
    else if (suffix.form === 'as') {
      if (sorted.alias) notes.report(suffix.span, `the step is named \`${sorted.alias.name.text}\` already`);
      else sorted.alias = suffix;
    } else if (sorted.within) notes.report(suffix.span, 'the step has a `within` already');
    else sorted.within = suffix;
  }
  return sorted;
}

/** `.where(e)` (or `.filter(e)`) and `.within(d)` on a step mean `where e` and `within d`. */
function stepClause(operator: OperatorCall): WhereSuffix | WithinSuffix | undefined {
  const expression = soleExpression(operator);
  if (!expression) return undefined;
  if (operator.name.text === 'where' || operator.name.text === 'filter') return { form: 'where', span: operator.span, expression };
  return operator.name.text === 'within' ? { form: 'within', span: operator.span, expression } : undefined;
}

/** `.within(d)` and `.partition_by(k)` on a pattern mean `within d` and `partition by k`. */
function patternClause(operator: OperatorCall): WithinSuffix | PartitionSuffix | undefined {
  const expression = soleExpression(operator);
  if (operator.name.text === 'within' && expression) return { form: 'within', span: operator.span, expression };
  if (operator.name.text !== 'partition_by') return undefined;
  const keys = operator.arguments.map(({ name, value }) => (name === null ? asExpression(value) : undefined));
  return keys.length > 0 && keys.every((key) => key !== undefined) ? { form: 'partition', span: operator.span, keys } : undefined;
}

function soleExpression(operator: OperatorCall): Expression | undefined {
  const [argument, second] = operator.arguments;
  if (!argument || second || argument.name || argument.order) return undefined;
  return asExpression(argument.value);
}

function asExpression(value: Argument['value']): Expression | undefined {
  return value.kind === 'Chain' || value.kind === 'StepArgument' || value.kind === 'PatternArgument' ? undefined : value;
}

// ------------------------------------------------------------------------------------------------ the last item

function lastItem(raw: RawPattern): RawItem {
  return raw.rest.at(-1)?.item ?? raw.first;
}

/**
 * Operators behind everything else of the last item are the stream's. Only `Type.increasing(f)` is the step's when the
 * pattern has no closure that the operator could mean.
 */
function splitOperators(raw: RawPattern): { kept: readonly Suffix[]; operators: readonly OperatorCall[] } {
  const item = lastItem(raw);
  let end = item.suffixes.findLastIndex((suffix) => suffix.form !== 'operator') + 1;
  const isFirstClosure = item.form === 'step' && !hasClosure(raw);
  while (isFirstClosure && isMonotoneSuffix(item.suffixes[end], end, item.suffixes)) end++;
  const operators = item.suffixes.slice(end).flatMap((suffix) => (suffix.form === 'operator' ? [suffix.operator] : []));
  return { kept: item.suffixes.slice(0, end), operators };
}

/** Whether anything but the operators behind the last item makes a closure. */
function hasClosure(raw: RawPattern): boolean {
  const last = lastItem(raw);
  return itemsOf(raw).some((item) => isClosure(item) || (item !== last && item.suffixes.some(isMonotoneOperator)));
}

function itemsOf(raw: RawPattern): RawItem[] {
  return [raw.first, ...raw.rest.map(({ item }) => item)];
}

function isClosure(item: RawItem): boolean {
  if (item.quantifier) return true;
  if (item.form === 'step') return item.all;
  if (item.form === 'none') return false;
  return item.form === 'group'
    ? containsClosure(item.pattern)
    : item.items.some(({ items }) => hasClosure(items) || lastItem(items).suffixes.some(isMonotoneOperator));
}

function containsClosure(pattern: Pattern): boolean {
  let found = false;
  walk(pattern, (node) => {
    if (node.kind === 'Quantifier' || (node.kind === 'StepElement' && (node.all || node.operators.some(isMonotone)))) found = true;
    return found || node.kind === 'StepElement' ? 'skip' : undefined;
  });
  return found;
}

function isMonotoneOperator(suffix: Suffix): boolean {
  return suffix.form === 'operator' && isMonotone(suffix.operator);
}

function isMonotoneSuffix(suffix: Suffix | undefined, index: number, suffixes: readonly Suffix[]): boolean {
  const direct = suffixes.slice(0, index).every((before) => before.form === 'operator');
  return direct && suffix !== undefined && isMonotoneOperator(suffix);
}

function isMonotone(operator: OperatorCall): boolean {
  return operator.name.text === 'increasing' || operator.name.text === 'decreasing';
}

function isSequence(raw: RawPattern): boolean {
  return raw.rest.length === 0 && raw.first.form === 'call' && raw.first.name === 'sequence' && raw.first.quantifier === null;
}

function refuseLeadingNot(raw: RawPattern, notes: Notes): void {
  if (raw.first.form !== 'step' || raw.first.negated === null) return;
  notes.report(raw.first.negated, 'a pattern cannot begin with `NOT`', 'put a step before it: `A -> NOT B within 5m`');
}

// ------------------------------------------------------------------------------------------------ filters in arguments

interface Filtering {
  readonly value: Expression;
  readonly condition: Expression;
  readonly span: Span;
  readonly notes: Notes;
  /** `X where e` is allowed too. */
  readonly step: boolean;
}

/** `count() where e` or, as an argument, `X where e`. */
export function wrapFiltered({ value, condition, span, notes, step }: Filtering): Filtered | StepArgument {
  if (value.kind === 'Call') return { kind: 'Filtered', span, call: value, condition };
  const type = step ? typeName(value) : undefined;
  if (type) return { kind: 'StepArgument', span, type, where: condition };
  return notes.fail(
    value.span,
    '`where` follows an aggregate call',
    'put the call and its `where` in parentheses: `(count() where ok) / count()`',
  );
}

/** `X`, `common.X`: a chain of members as one dotted name. */
function typeName(value: Expression): Identifier | undefined {
  const parts: string[] = [];
  let object = value;
  while (object.kind === 'Member' && !object.optional) {
    parts.unshift(object.name.text);
    object = object.object;
  }
  if (object.kind !== 'Name' || parts.length > 8) return undefined;
  return { kind: 'Identifier', span: value.span, text: [object.name, ...parts].join('.'), quoted: object.quoted && parts.length === 0 };
}
