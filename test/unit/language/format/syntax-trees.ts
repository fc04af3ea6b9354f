/** Random syntax trees of the kind that the parser makes: their spans mean nothing. */
import fc, { type Arbitrary } from 'fast-check';
import type {
  Argument,
  Expression,
  FieldDeclaration,
  FunctionStatement,
  Identifier,
  MapEntry,
  OperatorCall,
  Pattern,
  PatternElement,
  Program,
  Quantifier,
  SequenceElement,
  SourceInput,
  Statement,
  StepElement,
  StreamSource,
  StringLiteral,
  TestStep,
  TypeExpression,
} from '../../../../shared/language/ast/nodes.ts';

const span = { start: 0, end: 0 };
type Each = Expression | Statement | FunctionStatement | StreamSource | TestStep | TypeExpression | PatternElement;
type NodeOf<K extends Each['kind']> = Extract<Each, { readonly kind: K }>;

function node<const K extends Each['kind']>(properties: Omit<NodeOf<K>, 'span' | 'kind'> & { readonly kind: K }): NodeOf<K> {
  return { ...properties, span } as unknown as NodeOf<K>;
}

const plainWords =
  'a b price user_id all any first last as in is where within partition by event stream let emit return break NOT AND OR SEQ merge join timer sequence f e1 x_1 LEN desc asc times config type no on';
const word = fc.constantFrom(...plainWords.split(' '));
const fieldName = fc.oneof(
  { weight: 5, arbitrary: word.map((text) => identifier(text)) },
  { weight: 1, arbitrary: fc.constantFrom('cs-uri', 'a b', 'null', 'é').map((text) => identifier(text, true)) },
);
/** Where reserved words may stand too. */
const anyName = fc.oneof(
  { weight: 5, arbitrary: fieldName },
  { weight: 1, arbitrary: fc.constantFrom('if', 'null', 'not', 'true').map((text) => identifier(text)) },
);

function identifier(text: string, quoted = false): Identifier {
  return { kind: 'Identifier', span, text, quoted };
}

const text = fc.string({
  unit: fc.constantFrom('a', ' ', '{', '}', '"', "'", '\\', '\n', '\t', 'é', '😀', '#', '/', '*', ':', '\u0085', '.', '('),
  maxLength: 8,
});
const literal: Arbitrary<Expression> = fc.oneof(
  fc
    .constantFrom('0', '7', '42', '1_000')
    .map((digits) => node({ kind: 'NumberLiteral', type: 'int', value: Number(digits.replace('_', '')), text: digits })),
  fc
    .constantFrom('1.5', '2.5e-3', '1e3')
    .map((digits) => node({ kind: 'NumberLiteral', type: 'float', value: Number(digits), text: digits })),
  fc
    .constantFrom<[string, number]>(['5m', 300_000], ['1h30m', 5_400_000], ['500ms', 500], ['0s', 0], ['1.5s', 1500])
    .map(([written, ms]) => node({ kind: 'DurationLiteral', ms, text: written })),
  fc
    .constantFrom<[string, number]>(['@1970-01-02', 86_400_000], ['@1970-01-01T00:00:01.5Z', 1500], ['@1970-01-01T01:00:00+01:00', 0])
    .map(([written, ms]) => node({ kind: 'TimestampLiteral', ms, text: written })),
  text.map((value) => node({ kind: 'StringLiteral', value, raw: false })),
  text.filter((value) => !/[\n\u0085]/.test(value)).map((value) => node({ kind: 'StringLiteral', value, raw: true })),
  fc.boolean().map((value) => node({ kind: 'BoolLiteral', value })),
  fc.constant(node({ kind: 'NullLiteral' })),
);
const nameExpression: Arbitrary<Expression> = fieldName.map(({ text: name, quoted }) => node({ kind: 'Name', name, quoted }));
const binaryOperators = [
  '??',
  'or',
  'and',
  '==',
  '!=',
  '<',
  '<=',
  '>',
  '>=',
  'in',
  'not in',
  '|',
  '^',
  '&',
  '<<',
  '>>',
  '+',
  '-',
  '*',
  '/',
  '%',
  '**',
] as const;
const plainString: Arbitrary<StringLiteral> = text.map((value) => ({ kind: 'StringLiteral', span, value, raw: false }));

/** A type alias: fast-check's typed `letrec` takes no interface. */
type Trees = {
  readonly expression: Expression;
  readonly argument: Argument;
  readonly operator: OperatorCall;
  readonly element: PatternElement;
  readonly pattern: Pattern;
  readonly statement: FunctionStatement;
};

/** The arbitraries for the body of a `for` with these variables, or for a place outside of one. */
function trees(loopVariables: readonly string[]) {
  const name =
    loopVariables.length === 0
      ? fieldName
      : fc.oneof(
          fieldName,
          fc.constantFrom(...loopVariables).map((variable) => identifier(`Zone{${variable}}`)),
        );
  const leaf =
    loopVariables.length === 0
      ? nameExpression
      : fc.oneof(
          nameExpression,
          fc.constantFrom(...loopVariables).map((variable) => node({ kind: 'Hole', name: variable })),
          fc.constantFrom(...loopVariables).map((variable) => node({ kind: 'Name', name: variable, quoted: false })),
        );
  return fc.letrec<Trees>((tie) => {
    const expression = tie('expression');
    const args = fc.array(tie('argument'), { maxLength: 3 });
    const postfix = fc.oneof(nameExpression, expression);
    return {
      expression: fc.oneof(
        { depthSize: 'xsmall', withCrossShrink: true },
        literal,
        leaf,
        fc.array(expression, { maxLength: 3 }).map((items) => node({ kind: 'ArrayLiteral', items })),
        fc.array(mapEntry(expression), { maxLength: 3 }).map((entries) => node({ kind: 'MapLiteral', entries })),
        fc
          .array(fc.tuple(text, expression), { maxLength: 2 })
          .map((parts) => node({ kind: 'TemplateLiteral', parts: parts.flat().filter((part) => part !== '') })),
        fc
          .tuple(postfix, anyName, fc.boolean())
          .map(([object, member, optional]) => node({ kind: 'Member', object, name: member, optional })),
        fc.tuple(postfix, expression).map(([object, index]) => node({ kind: 'Index', object, index })),
        fc
          .tuple(postfix, fc.option(expression), fc.option(expression))
          .map(([object, from, to]) => node({ kind: 'Slice', object, from, to })),
        fc.tuple(postfix, args).map(([callee, list]) => node({ kind: 'Call', callee, arguments: list })),
        fc.tuple(fc.array(fieldName, { maxLength: 2 }), expression).map(([parameters, body]) => node({ kind: 'Lambda', parameters, body })),
        fc
          .tuple(fieldName, fc.array(tie('statement'), { minLength: 1, maxLength: 3 }))
          .map(([parameter, statements]) => node({ kind: 'Lambda', parameters: [parameter], body: node({ kind: 'Block', statements }) })),
        fc
          .tuple(expression, expression, expression)
          .map(([condition, then, otherwise]) => node({ kind: 'Conditional', condition, then, otherwise })),
        fc.tuple(fc.constantFrom('-', '~', 'not'), expression).map(([operator, operand]) => node({ kind: 'Unary', operator, operand })),
        fc
          .tuple(fc.constantFrom(...binaryOperators), expression, expression)
          .map(([operator, left, right]) => node({ kind: 'Binary', operator, left, right })),
        fc.tuple(expression, expression, fc.boolean()).map(([from, to, inclusive]) => node({ kind: 'Range', from, to, inclusive })),
        fc.tuple(expression, fc.boolean()).map(([operand, negated]) => node({ kind: 'IsNull', operand, negated })),
      ),
      argument: fc
        .tuple(fc.option(anyName), argumentValue(expression, tie('operator'), tie('pattern')), fc.constantFrom(null, null, 'asc', 'desc'))
        .map(([label, value, order]) => ({ kind: 'Argument', span, name: label, value, order: isExpression(value) ? order : null })),
      operator: operatorOf(tie('argument')),
      element: elementOf(tie('element'), { expression, name, operator: tie('operator') }),
      pattern: patternOf(tie('element'), expression),
      statement: fc.oneof(
        expression.map((value) => node({ kind: 'ExpressionStatement', expression: value })),
        fc.tuple(fieldName, expression).map(([target, value]) => node({ kind: 'AssignmentStatement', target, value })),
        binding(expression, fieldName),
      ),
    };
  });
}

function isExpression(value: Argument['value']): boolean {
  return value.kind !== 'Chain' && value.kind !== 'StepArgument' && value.kind !== 'PatternArgument';
}

function mapEntry(expression: Arbitrary<Expression>): Arbitrary<MapEntry> {
  const plain = fc.tuple(word, expression).map(([key, value]): MapEntry => ({ kind: 'MapEntry', span, key, quoted: false, value }));
  return fc.oneof(
    plain,
    fc.tuple(text, expression).map(([key, value]): MapEntry => ({ kind: 'MapEntry', span, key, quoted: true, value })),
  );
}

function argumentValue(
  expression: Arbitrary<Expression>,
  operator: Arbitrary<OperatorCall>,
  pattern: Arbitrary<Pattern>,
): Arbitrary<Argument['value']> {
  type Value = Argument['value'];
  const call = fc
    .tuple(nameExpression, expression)
    .map(([callee, value]) => node({ kind: 'Call', callee, arguments: [argumentOf(value)] }));
  const filtered = fc.tuple(call, expression).map(([value, condition]): Value => node({ kind: 'Filtered', call: value, condition }));
  const chain = fc.array(operator, { minLength: 1, maxLength: 2 }).map((operators): Value => ({ kind: 'Chain', span, operators }));
  const step = fc.tuple(word, expression).map(([type, where]): Value => ({ kind: 'StepArgument', span, type: identifier(type), where }));
  const arrows = pattern
    .filter(hasArrow)
    .map((value): Value => ({ kind: 'PatternArgument', span, pattern: { ...value, partitionBy: [] } }));
  const plain = expression.map((value): Value => value);
  return fc.oneof({ weight: 6, arbitrary: plain }, ...[filtered, chain, step, arrows].map((arbitrary) => ({ weight: 1, arbitrary })));
}

function argumentOf(value: Expression): Argument {
  return { kind: 'Argument', span, name: null, value, order: null };
}

function hasArrow({ body }: Pattern): boolean {
  return body.kind === 'SequenceElement' && body.form === 'arrow';
}

function operatorOf(argument: Arbitrary<Argument>): Arbitrary<OperatorCall> {
  const args = fc.array(argument, { maxLength: 3 });
  const names = fc.constantFrom('where', 'filter', 'emit', 'first', 'within', 'print', 'select', 'not', 'collect');
  return fc.oneof(
    fc
      .tuple(names, args)
      .map(([name, list]): OperatorCall => ({ kind: 'OperatorCall', span, name: identifier(name), as: null, arguments: list })),
    fc
      .tuple(word, args)
      .map(
        ([type, list]): OperatorCall => ({ kind: 'OperatorCall', span, name: identifier('emit'), as: identifier(type), arguments: list }),
      ),
  );
}

// ------------------------------------------------------------------------------------------------ patterns

interface Parts {
  readonly expression: Arbitrary<Expression>;
  readonly name: Arbitrary<Identifier>;
  readonly operator: Arbitrary<OperatorCall>;
}

const quantifier: Arbitrary<Quantifier> = fc
  .constantFrom<Omit<Quantifier, 'kind' | 'span'>>(
    { text: '+', min: 1, max: Number.POSITIVE_INFINITY },
    { text: '*', min: 0, max: Number.POSITIVE_INFINITY },
    { text: '?', min: 0, max: 1 },
    { text: 'range', min: 2, max: 2 },
    { text: 'range', min: 2, max: Number.POSITIVE_INFINITY },
    { text: 'range', min: 0, max: 3 },
  )
  .map((properties) => ({ kind: 'Quantifier', span, ...properties }));

function stepOf({ expression, name, operator }: Parts): Arbitrary<StepElement> {
  return fc
    .record({
      all: fc.boolean(),
      negated: fc.boolean(),
      type: fc.array(name, { minLength: 1, maxLength: 2 }),
      quantifier: fc.option(quantifier),
      where: fc.array(expression, { maxLength: 2 }),
      alias: fc.option(name),
      within: fc.option(expression),
      operators: fc.array(
        operator.filter(({ name: { text: label } }) => !['where', 'filter', 'within'].includes(label)),
        { maxLength: 1 },
      ),
    })
    .map(
      (step) => ({ kind: 'StepElement', span, ...step, ...(step.negated ? { all: false, quantifier: null } : {}) }) satisfies StepElement,
    )
    .filter(({ all, negated, type: [first] }) => !(all || negated) || !/^(?:where|as|within|partition|AND|OR)$/.test(first?.text ?? ''));
}

function elementOf(element: Arbitrary<PatternElement>, parts: Parts): Arbitrary<PatternElement> {
  const items = fc.array(element, { minLength: 1, maxLength: 3 });
  const group = fc
    .tuple(patternOf(element, parts.expression), fc.option(quantifier), fc.option(parts.expression))
    .map(([pattern, marks, within]) => node({ kind: 'GroupElement', pattern: soleStepKeepsWithin(pattern), quantifier: marks, within }));
  const call = fc
    .tuple(fc.constantFrom('SequenceElement', 'AndElement', 'OrElement'), items)
    .map(([kind, list]) => node({ kind, form: 'call', items: list.map(callItem) } as Omit<SequenceElement, 'span'>) as PatternElement);
  const under = stepOf(parts).filter(({ type: [first] }) => !/^(?:all|where|as|within|partition|AND|OR)$/.test(first?.text ?? ''));
  const none = fc.tuple(fc.array(under, { minLength: 2, maxLength: 3 }), fc.option(parts.expression)).map(([steps, within]) =>
    node({
      kind: 'NoneElement',
      items: steps.map((one) => ({ ...one, all: false, negated: true, quantifier: null, within: null })),
      within,
    }),
  );
  return fc.oneof({ depthSize: 'xsmall' }, stepOf(parts), group, call, none);
}

/** Several elements: their last `within` would be the pattern's. */
function patternOf(element: Arbitrary<PatternElement>, expression: Arbitrary<Expression>): Arbitrary<Pattern> {
  const and = fc.array(element, { minLength: 1, maxLength: 2 }).map((items) => infix('AndElement', items));
  const or = fc.array(and, { minLength: 1, maxLength: 2 }).map((items) => infix('OrElement', items));
  const arrows = fc.array(or, { minLength: 1, maxLength: 3 }).map((items) => infix('SequenceElement', items));
  return fc.tuple(arrows, fc.option(expression), fc.array(expression, { maxLength: 2 })).map(([body, within, partitionBy]) => ({
    kind: 'Pattern',
    span,
    body: withoutLastWithin(body),
    within: endsWithNot(body) ? null : within,
    partitionBy,
  }));
}

function infix(kind: 'AndElement' | 'OrElement' | 'SequenceElement', items: readonly PatternElement[]): PatternElement {
  const [first] = items;
  if (items.length === 1 && first) return first;
  return { kind, span, form: kind === 'SequenceElement' ? 'arrow' : 'infix', items } as PatternElement;
}

function isInfix(element: PatternElement): element is Extract<PatternElement, { readonly form: string }> {
  return 'form' in element && element.form !== 'call';
}

function endsWithNot(element: PatternElement): boolean {
  const last = isInfix(element) ? element.items.at(-1) : element;
  return last !== undefined && last !== element
    ? endsWithNot(last)
    : element.kind === 'NoneElement' || (element.kind === 'StepElement' && element.negated);
}

function withoutLastWithin(element: PatternElement): PatternElement {
  if (isInfix(element)) {
    const last = element.items.at(-1) as PatternElement;
    return { ...element, items: [...element.items.slice(0, -1), withoutLastWithin(last)] } as PatternElement;
  }
  if (element.kind === 'GroupElement') return { ...element, within: null };
  return element.kind === 'StepElement' && !element.negated ? { ...element, within: null } : element;
}

function soleStepKeepsWithin(pattern: Pattern): Pattern {
  return isInfix(pattern.body) ? pattern : { ...pattern, within: null };
}

function callItem(element: PatternElement): PatternElement {
  return isInfix(element) ? withoutLastWithin(element) : element;
}

/** A pattern as it can stand in a stream: what looks like a plain source or like the stream's operators is no part of it. */
function streamPattern(pattern: Pattern): Pattern {
  const body = withSettledLast(withoutLastWithin(withoutLeadingNot(pattern.body)));
  return { ...pattern, body: body.kind === 'StepElement' && !body.all && !body.quantifier ? { ...body, all: true } : body };
}

function withoutLeadingNot(element: PatternElement): PatternElement {
  if (element.kind === 'StepElement') return { ...element, negated: false };
  if (!isInfix(element)) return element;
  return { ...element, items: [withoutLeadingNot(element.items[0] as PatternElement), ...element.items.slice(1)] } as PatternElement;
}

/** Operators of the last step stand before its alias. */
function withSettledLast(element: PatternElement): PatternElement {
  if (element.kind === 'StepElement')
    return element.operators.length > 0 ? { ...element, alias: element.alias ?? identifier('z') } : element;
  if (!isInfix(element)) return element;
  return { ...element, items: [...element.items.slice(0, -1), withSettledLast(element.items.at(-1) as PatternElement)] } as PatternElement;
}

// ------------------------------------------------------------------------------------------------ statements

const type: Arbitrary<TypeExpression> = fc.letrec<{ type: TypeExpression }>((tie) => ({
  type: fc.oneof(
    { depthSize: 'xsmall', withCrossShrink: true },
    fc.constantFrom('int', 'str', 'common.UserId', 'any').map((name) => node({ kind: 'NamedType', name, parameters: [] })),
    tie('type').map((item) => node({ kind: 'ArrayType', item })),
    tie('type').map((of) => node({ kind: 'OptionalType', of })),
    fc.tuple(tie('type'), tie('type')).map(([key, value]) => node({ kind: 'MapType', key, value })),
    fc.array(tie('type'), { minLength: 1, maxLength: 2 }).map((parameters) => node({ kind: 'NamedType', name: 'Stream', parameters })),
  ),
})).type;

function binding(expression: Arbitrary<Expression>, name: Arbitrary<Identifier>) {
  return fc
    .tuple(fc.constantFrom('const', 'let', 'var'), name, fc.option(type), expression)
    .map(([keyword, target, annotation, value]) =>
      node({ kind: 'BindingDeclaration', binding: keyword, name: target, type: annotation, value }),
    );
}

const field: Arbitrary<FieldDeclaration> = fc
  .tuple(anyName, type)
  .map(([name, of]) => ({ kind: 'FieldDeclaration', span, name, type: of }));

type Several<T> = readonly [T, ...T[]];
function several<T>(arbitrary: Arbitrary<T>): Arbitrary<Several<T>> {
  return fc.array(arbitrary, { minLength: 1, maxLength: 3 }) as unknown as Arbitrary<Several<T>>;
}

function functionStatements(
  expression: Arbitrary<Expression>,
  argument: Arbitrary<Argument>,
  simple: Arbitrary<FunctionStatement>,
): Arbitrary<FunctionStatement> {
  return fc.letrec<{ statement: FunctionStatement }>((tie) => {
    const body = several(tie('statement'));
    const branches = several(fc.record({ condition: expression, body }));
    return {
      statement: fc.oneof(
        { depthSize: 'xsmall', withCrossShrink: true },
        simple,
        fc.constantFrom(node({ kind: 'BreakStatement' }), node({ kind: 'ContinueStatement' })),
        fc.option(expression).map((value) => node({ kind: 'ReturnStatement', value })),
        fc
          .tuple(word, fc.array(argument, { maxLength: 2 }))
          .map(([of, fields]) => node({ kind: 'EmitStatement', type: identifier(of), fields })),
        fc.tuple(branches, fc.option(body)).map(([list, otherwise]) => node({ kind: 'IfStatement', branches: list, otherwise })),
        fc
          .tuple(fieldName, expression, body)
          .map(([variable, iterable, inner]) => node({ kind: 'ForStatement', variable, iterable, body: inner })),
        fc.tuple(expression, body).map(([condition, inner]) => node({ kind: 'WhileStatement', condition, body: inner })),
      ),
    };
  }).statement;
}

function testSteps(expression: Arbitrary<Expression>): Arbitrary<TestStep> {
  const fields = fc.array(mapEntry(expression), { maxLength: 2 });
  const names = word.filter((text) => !['no', 'in', 'is'].includes(text)).map((text) => identifier(text));
  return fc.oneof(
    fc.tuple(expression, names, fields).map(([at, of, entries]) => node({ kind: 'TestEvent', at, type: of, fields: entries })),
    expression.map((by) => node({ kind: 'TestAdvance', by })),
    fc
      .tuple(names, fields, fc.constantFrom(null, 0, 1, 3))
      .map(([stream, entries, count]) => node({ kind: 'TestExpectation', stream, fields: entries, count })),
  );
}

function sources(parts: Parts, pattern: Arbitrary<Pattern>, argument: Arbitrary<Argument>): Arbitrary<StreamSource> {
  const named = fc
    .tuple(fc.array(parts.name, { minLength: 1, maxLength: 2 }), fc.option(parts.name))
    .map(([path, alias]) => node({ kind: 'NamedSource', path, alias }));
  const input = fc
    .tuple(fc.option(parts.name), named, fc.array(parts.operator, { maxLength: 2 }))
    .map(([name, source, operators]): SourceInput => ({ kind: 'SourceInput', span, name, source, operators }));
  const sequenceItem = stepOf(parts).map((step) => ({ ...step, operators: [] }));
  return fc.oneof(
    named,
    several(input).map((inputs) => node({ kind: 'MergeSource', inputs })),
    fc
      .tuple(fc.constantFrom('join', 'left_join', 'right_join', 'full_join'), several(input))
      .map(([join, inputs]) => node({ kind: 'JoinSource', join, inputs })),
    fc.array(argument, { maxLength: 2 }).map((list) => node({ kind: 'TimerSource', arguments: list })),
    pattern.map((value) => node({ kind: 'PatternSource', form: 'arrow', pattern: streamPattern(value) })),
    fc.tuple(several(sequenceItem), fc.option(parts.expression)).map(([items, within]) => {
      const body = { kind: 'SequenceElement', span, form: 'call', items } as const;
      return node({ kind: 'PatternSource', form: 'sequence', pattern: { kind: 'Pattern', span, body, within, partitionBy: [] } });
    }),
  );
}

function statements(loopVariables: readonly string[], depth: number): Arbitrary<Statement> {
  const { expression, argument, operator, pattern, statement } = trees(loopVariables);
  const name =
    loopVariables.length === 0
      ? fieldName
      : fc.oneof(
          fieldName,
          fc.constantFrom(...loopVariables).map((variable) => identifier(`Rule{${variable}}_x`)),
        );
  const args = fc.array(argument, { maxLength: 3 });
  const functionBody = several(functionStatements(expression, argument, statement));
  const streamOperator = operator.filter(({ name: { text: label } }) => label !== 'increasing');
  const simple: Arbitrary<Statement>[] = [
    fc
      .tuple(name, fc.option(word), fc.array(field, { maxLength: 3 }))
      .map(([label, parent, fields]) =>
        node({ kind: 'EventDeclaration', name: label, parent: parent === null ? null : identifier(parent), fields }),
      ),
    fc.tuple(name, type).map(([label, alias]) => node({ kind: 'TypeDeclaration', name: label, alias, fields: [] })),
    fc.tuple(name, several(field)).map(([label, fields]) => node({ kind: 'TypeDeclaration', name: label, alias: null, fields })),
    binding(expression, name),
    fc.tuple(name, expression).map(([target, value]) => node({ kind: 'AssignmentStatement', target, value })),
    fc
      .tuple(
        name,
        fc.array(
          fc.record({
            kind: fc.constant('ParameterDeclaration' as const),
            span: fc.constant(span),
            name: fieldName,
            type: fc.option(type),
          }),
          { maxLength: 2 },
        ),
        fc.option(type),
        functionBody,
      )
      .map(([label, parameters, result, body]) => node({ kind: 'FunctionDeclaration', name: label, parameters, result, body })),
    fc
      .tuple(name, word, args)
      .map(([label, of, parameters]) => node({ kind: 'ConnectorDeclaration', name: label, type: identifier(of), parameters })),
    fc.tuple(name, args).map(([label, parameters]) => node({ kind: 'ContextDeclaration', name: label, parameters })),
    fc
      .tuple(name, several(fc.tuple(anyName, expression)))
      .map(([label, entries]) =>
        node({ kind: 'ConfigDeclaration', name: label, entries: entries.map(([key, value]) => ({ ...argumentOf(value), name: key })) }),
      ),
    fc
      .tuple(name, pattern)
      .map(([label, value]) =>
        node({ kind: 'PatternDeclaration', name: label, pattern: { ...value, body: withoutLastWithin(withoutLeadingNot(value.body)) } }),
      ),
    fc
      .tuple(name, fc.option(type), sources({ expression, name, operator }, pattern, argument), fc.array(streamOperator, { maxLength: 3 }))
      .map(([label, of, source, operators]) => node({ kind: 'StreamDeclaration', name: label, type: of, source, operators })),
    fc.tuple(plainString, fc.option(fieldName)).map(([path, alias]) => node({ kind: 'ImportDeclaration', path, alias })),
    fc
      .tuple(plainString, fc.array(testSteps(expression), { maxLength: 3 }))
      .map(([label, steps]) => node({ kind: 'TestDeclaration', name: label, steps })),
  ];
  if (depth === 0) return fc.oneof(...simple);
  const inner = several(statements(loopVariables, depth - 1));
  const loopBody = several(statements([...loopVariables, depth === 2 ? 'i' : 'j'], depth - 1));
  return fc.oneof(
    ...simple.map((arbitrary) => ({ weight: 4, arbitrary })),
    {
      weight: 2,
      arbitrary: fc
        .tuple(several(fc.record({ condition: expression, body: inner })), fc.oneof(fc.constant([]), inner))
        .map(([branches, otherwise]) => node({ kind: 'IfDeclaration', branches, otherwise })),
    },
    {
      weight: 4,
      arbitrary: fc
        .tuple(expression, loopBody)
        .map(([range, body]) => node({ kind: 'ForDeclaration', variable: identifier(depth === 2 ? 'i' : 'j'), range, body })),
    },
  );
}

/** A whole program. */
export const programs: Arbitrary<Program> = fc
  .array(statements([], 2) as Arbitrary<Statement>, { maxLength: 4 })
  .map((list) => ({ kind: 'Program', span, statements: list, comments: [] }));

/** A tree without what printing may change: spans, parentheses, comments. */
export function meaningOf(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(meaningOf);
  if (typeof part !== 'object' || part === null) return part;
  const { kind, expression } = part as { kind?: string; expression?: unknown };
  if (kind === 'Parenthesized') return meaningOf(expression);
  const entries = Object.entries(part).filter(([key]) => key !== 'span' && key !== 'comments');
  return Object.fromEntries(entries.map(([key, value]) => [key, meaningOf(value)]));
}
