import { describe, expect, it } from 'vitest';
import { Duration, Timestamp, type Value } from '../../../shared/events/value.ts';
import { SourceText } from '../../../shared/language/diagnostics/diagnostic.ts';
import type { PlanExpression, PlanStatement } from '../../../shared/language/plan/plan.ts';
import { ANY } from '../../../shared/language/plan/types.ts';
import type { ExpressionBackend } from '../../../worker/engine/evaluate/backend.ts';
import { Activation, StepBudget } from '../../../worker/engine/evaluate/step-budget.ts';
import type { Binding, Row } from '../../../worker/engine/operators/row.ts';
import { ReferenceBackend } from '../../reference/reference-backend.ts';
import { binary, call, constant, field, functionPlan, global, invoke, local, type PlanOptions, plan, returns } from './support/plans.ts';

const row = (fields: Readonly<Record<string, Value>> = {}, time = 5, order = 1): Row => ({
  type: 'X',
  time,
  order,
  fields: new Map(Object.entries(fields)),
  bound: null,
  attributes: null,
  causes: [order],
});
const backendOf = (options: PlanOptions = {}): ExpressionBackend => new ReferenceBackend(plan(options));
const evaluate = (expression: PlanExpression, on: Row = row(), bound: readonly Binding[] = [], options: PlanOptions = {}): Value =>
  backendOf(options).expression(expression)({ row: on, bound, aggregates: [], locals: [] });

const NULL = constant(null);
const logical = (operator: 'and' | 'or' | '??', left: Value, right: Value): PlanExpression => ({
  kind: 'logical',
  type: ANY,
  operator,
  left: constant(left),
  right: constant(right),
});
const not = (value: Value): PlanExpression => ({ kind: 'unary', type: ANY, operator: 'not', operand: constant(value) });

describe('null', () => {
  it.each([
    ['null + 1', binary(NULL, '+', constant(1)), null],
    ['null == null as values', binary(NULL, '==', NULL), null],
    ['null < 1', binary(NULL, '<', constant(1)), null],
    ['null in []', binary(NULL, 'in', constant([])), null],
    ['null not in []', binary(NULL, 'not in', constant([])), null],
    ['null or null', logical('or', null, null), false],
    ['null and true', logical('and', null, true), false],
    ['null or true', logical('or', null, true), true],
    ['not null', not(null), true],
    ['null ?? 3', logical('??', null, 3), 3],
    ['false ?? 3', logical('??', false, 3), false],
    ['null is null', { kind: 'is_null', type: ANY, operand: NULL, negated: false }, true],
    ['null is not null', { kind: 'is_null', type: ANY, operand: NULL, negated: true }, false],
    // biome-ignore lint/suspicious/noThenProperty: the plan calls the branch so
    ['if null then 1 else 2', { kind: 'if', type: ANY, condition: NULL, then: constant(1), otherwise: constant(2) }, 2],
    ['null.f', { kind: 'member', type: ANY, object: NULL, name: 'f' }, null],
    ['upper(null)', call('upper', NULL), null],
    ['a missing field', field('nothing'), null],
  ] as const satisfies readonly (readonly [string, PlanExpression, Value])[])('%s', (_, expression, expected) => {
    expect(evaluate(expression)).toBe(expected);
  });
});

describe('operators', () => {
  it('mix numbers and compute with times and durations', () => {
    expect(evaluate(binary(constant(7), '/', constant(2)))).toBe(3.5);
    expect(evaluate(binary(constant(new Timestamp(10)), '-', constant(new Timestamp(4))))).toEqual(new Duration(6));
    expect(evaluate(binary(constant('b'), 'not in', constant(['a'])))).toBe(true);
  });

  it('short-circuit: what is not reached cannot fail', () => {
    const failing = binary(constant('a'), '*', constant(2));
    expect(evaluate({ kind: 'logical', type: ANY, operator: 'or', left: constant(true), right: failing })).toBe(true);
    expect(evaluate({ kind: 'logical', type: ANY, operator: 'and', left: NULL, right: failing })).toBe(false);
  });

  it('fail on kinds they cannot take', () => {
    expect(() => evaluate(binary(constant('a'), '+', constant(1)))).toThrow('cannot add str and int');
    expect(() => evaluate(not('text'))).toThrow('cannot apply not to str');
  });

  it('write templates with the text of their parts', () => {
    expect(evaluate({ kind: 'template', type: ANY, parts: ['x=', field('v'), ';', constant(new Duration(90_000))] }, row({ v: 1.5 }))).toBe(
      'x=1.5;1m30s',
    );
  });
});

describe('rows', () => {
  const a = row({ v: 1 }, 10, 1);
  const b1 = row({ v: 2 }, 20, 2);
  const b2 = row({ v: 3 }, 30, 3);
  const bound: readonly Binding[] = [a, [b1, b2], null];
  const item = (at: 'first' | 'last' | 'prev' | PlanExpression): PlanExpression => ({
    kind: 'field',
    type: ANY,
    of: { kind: 'item', slot: 1, at },
    name: 'v',
  });

  it('are read by slot: a closure is its last capture, an unbound step is null', () => {
    const slot = (index: number): PlanExpression => ({ kind: 'field', type: ANY, of: { kind: 'slot', slot: index }, name: 'v' });
    expect([0, 1, 2].map((index) => evaluate(slot(index), a, bound))).toEqual([1, 3, null]);
  });

  it('are read by position within a closure', () => {
    const items = ['first', 'last', 'prev', constant(0), constant(-1), constant(2), NULL] as const;
    expect(items.map((at) => evaluate(item(at), a, bound))).toEqual([2, 3, 2, 2, 3, null, null]);
  });

  it('are aggregated over a closure, each in its own row', () => {
    const over = (name: string, argument: PlanExpression | null): PlanExpression => ({
      kind: 'closure',
      type: ANY,
      slot: 1,
      function: name,
      argument,
      constants: [],
    });
    expect(evaluate(over('count', null), a, bound)).toBe(2);
    expect(evaluate(over('sum', field('v')), a, bound)).toBe(5);
    expect(evaluate(over('sum', field('v')), a, [a, null])).toBe(0);
  });

  it('satisfy a comparison with the previous capture while there is none', () => {
    const first: PlanExpression = { kind: 'unless_first', type: ANY, slot: 1, condition: constant(false) };
    expect(evaluate(first, a, [a, null])).toBe(true);
    expect(evaluate(first, a, [a, []])).toBe(true);
    expect(evaluate(first, a, bound)).toBe(false);
  });

  it('fall back to the last event of a match for names that the match has not', () => {
    const match: Row = { ...row({ a_v: 1, v: 9 }), bound, last: row({ v: 3, w: 4 }) };
    expect([field('v'), field('w'), field('z')].map((expression) => evaluate(expression, match))).toEqual([9, 4, null]);
  });

  it('have event_type and timestamp, and null for what they have not', () => {
    const attribute = (name: 'event_type' | 'timestamp' | 'match_id'): PlanExpression => ({
      kind: 'attribute',
      type: ANY,
      of: { kind: 'current' },
      name,
    });
    expect([attribute('event_type'), attribute('timestamp'), attribute('match_id')].map((one) => evaluate(one, a))).toEqual([
      'X',
      new Timestamp(10),
      null,
    ]);
  });
});

describe('lambdas', () => {
  it('take their parameters as locals of the frame around them', () => {
    const lambda: PlanExpression = { kind: 'lambda', type: ANY, parameters: [0], body: binary(local(0), '*', field('v')), text: '' };
    expect(evaluate(call('map', constant([1, 2, 3]), lambda), row({ v: 10 }))).toEqual([10, 20, 30]);
  });

  it('may have a block with a value of its own', () => {
    const block: PlanExpression = {
      kind: 'block',
      type: ANY,
      body: [{ kind: 'set_local', slot: 1, value: constant(5) }, returns(binary(local(0), '+', local(1)))],
    };
    expect(evaluate(call('map', constant([1, 2]), { kind: 'lambda', type: ANY, parameters: [0], body: block, text: '' }))).toEqual([6, 7]);
  });
});

const loop = (iterable: PlanExpression, body: readonly PlanStatement[]): PlanStatement => ({ kind: 'for', slot: 1, iterable, body });
const add = (slot: number, value: PlanExpression): PlanStatement => ({ kind: 'set_local', slot, value: binary(local(slot), '+', value) });
const zero: PlanStatement = { kind: 'set_local', slot: 0, value: constant(0) };

describe('functions', () => {
  const callOf = (body: readonly PlanStatement[], args: readonly Value[] = []): Value =>
    backendOf({ functions: [functionPlan('f', args.length, body, 4)] }).invoke(0, args, row());
  const range = (from: number, to: number): PlanExpression => ({
    kind: 'range',
    type: ANY,
    from: constant(from),
    to: constant(to),
    inclusive: false,
  });

  it('give the value of the return reached, else null', () => {
    expect(callOf([returns(binary(local(0), '+', constant(1)))], [4])).toBe(5);
    expect(callOf([{ kind: 'expression', value: constant(3) }])).toBeNull();
  });

  it('loop over arrays, maps, ints and ranges, and over nothing for null', () => {
    const over = (iterable: PlanExpression): Value =>
      callOf([{ kind: 'set_local', slot: 0, value: constant([]) }, loop(iterable, [push]), returns(local(0))]);
    const push: PlanStatement = { kind: 'set_local', slot: 0, value: call('push', local(0), local(1)) };
    expect(over(constant(['a', 'b']))).toEqual(['a', 'b']);
    expect(over(constant(new Map([['k', 1]])))).toEqual([['k', 1]]);
    expect(over(constant(3))).toEqual([0, 1, 2]);
    expect(over(range(2, 4))).toEqual([2, 3]);
    expect(over(NULL)).toEqual([]);
    expect(() => over(constant('text'))).toThrow('cannot loop over str');
  });

  it('leave a loop by break, go on by continue, and leave the function by return', () => {
    const until = (value: number, statement: PlanStatement): PlanStatement => ({
      kind: 'if',
      branches: [{ condition: binary(local(1), '==', constant(value)), body: [statement] }],
      otherwise: [],
    });
    const sum = (statement: PlanStatement): Value =>
      callOf([zero, loop(constant(5), [until(2, statement), add(0, local(1))]), returns(local(0))]);
    expect(sum({ kind: 'break' })).toBe(1);
    expect(sum({ kind: 'continue' })).toBe(8);
    expect(sum(returns(constant('out')))).toBe('out');
  });

  it('may call each other 256 deep and not deeper', () => {
    const recursive = functionPlan('f', 1, [
      {
        kind: 'if',
        branches: [{ condition: binary(local(0), '<=', constant(1)), body: [returns(constant(1))] }],
        otherwise: [returns(binary(invoke(0, binary(local(0), '-', constant(1))), '+', constant(1)))],
      },
    ]);
    const backend = backendOf({ functions: [recursive] });
    expect(backend.invoke(0, [256], row())).toBe(256);
    expect(() => backend.invoke(0, [257], row())).toThrow('f: calls are nested more than 256 deep');
    expect(backend.invoke(0, [256], row())).toBe(256);
  });

  it('may take a million loop steps in one call and not more', () => {
    const loops = (steps: number): Value => callOf([zero, loop(range(0, steps), [add(0, constant(1))]), returns(local(0))]);
    expect(loops(1_000_000)).toBe(1_000_000);
    expect(() => loops(1_000_001)).toThrow('the loops of one call may take at most 1000000 steps');
    expect(() => callOf([{ kind: 'while', condition: constant(true), body: [] }])).toThrow('at most 1000000 steps');
  });

  it('share a hundred million steps for one event', () => {
    const budget = new StepBudget();
    for (let step = 0; step < 99_999_999; step++) budget.step();
    const activation = new Activation(budget);
    activation.loopStep();
    for (const more of [() => activation.loopStep(), () => budget.step(), () => budget.enter('f')]) {
      expect(more).toThrow('one event may cause at most 100000000 steps');
    }
    budget.beginEvent();
    budget.enter('f');
  });

  it('read the time of the row that they were called for', () => {
    const now = functionPlan('f', 0, [returns(call('now'))]);
    expect(backendOf({ functions: [now] }).invoke(0, [], row({}, 77))).toEqual(new Timestamp(77));
  });

  it('emit only where somebody takes it', () => {
    const emits = functionPlan('f', 0, [{ kind: 'emit', type: 'T', items: [{ name: 'v', value: constant(1) }] }]);
    const backend = backendOf({ functions: [emits] });
    const taken: unknown[] = [];
    backend.invoke(0, [], row(), (type, fields) => taken.push([type, ...fields]));
    expect(taken).toEqual([['T', ['v', 1]]]);
    expect(() => backend.invoke(0, [], row())).toThrow('emit T: only a function called by .process may emit');
  });

  it('turn the end of the stack into a failure of the program', () => {
    let deep: PlanExpression = local(0);
    for (let i = 0; i < 2_000; i++) deep = binary(deep, '+', constant(1));
    const recursive = functionPlan('f', 1, [returns(binary(invoke(0, local(0)), '+', deep))]);
    expect(() => backendOf({ functions: [recursive] }).invoke(0, [1], row())).toThrow(/nested more than 256 deep|too deep to evaluate/);
  });
});

const ORIGIN = { source: new SourceText('test.vpl', ''), span: { start: 0, end: 0 } };

describe('globals', () => {
  const let_ = (name: string, value: PlanExpression) => ({ name, binding: 'let', type: ANY, value, origin: ORIGIN }) as const;
  const var_ = (name: string, value: PlanExpression) => ({ name, binding: 'var', type: ANY, value, origin: ORIGIN }) as const;

  it('are evaluated once at load, in whatever order they need each other', () => {
    const options = { globals: [let_('b', binary(global(1), '*', constant(2))), let_('a', constant(21))] };
    expect(evaluate(global(0), row(), [], options)).toBe(42);
  });

  it('refuse to depend on themselves', () => {
    expect(() => backendOf({ globals: [let_('a', global(1)), let_('b', global(0))] })).toThrow('a depends on itself');
  });

  it('take top-level assignments after the declarations, and assignments of functions', () => {
    const set = functionPlan('set', 1, [{ kind: 'set_global', global: 0, value: local(0) }]);
    const backend = backendOf({
      globals: [var_('v', constant(1))],
      loads: [{ global: 0, value: binary(global(0), '+', constant(1)), origin: ORIGIN }],
      functions: [set],
    });
    expect([...backend.saveGlobals()]).toEqual([['v', 2]]);
    backend.invoke(0, [7], row());
    expect([...backend.saveGlobals()]).toEqual([['v', 7]]);
  });

  it('come back from a checkpoint by name, only the variables', () => {
    const backend = backendOf({ globals: [let_('a', constant(1)), var_('v', constant(2))] });
    backend.loadGlobals(
      new Map<string, Value>([
        ['a', 100],
        ['v', 200],
        ['gone', 300],
      ]),
    );
    const read = (index: number): Value => backend.expression(global(index))({ row: row(), bound: [], aggregates: [], locals: [] });
    expect([read(0), read(1)]).toEqual([1, 200]);
  });
});
