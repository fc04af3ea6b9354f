import { describe, expect, it } from 'vitest';
import { start } from './support/engine-run.ts';
import {
  binary,
  constant,
  emit,
  field,
  fromBranch,
  fromEvent,
  fromStream,
  operator,
  plan,
  select,
  stream,
  where,
} from './support/plans.ts';

describe('delivery', () => {
  it('hands an event to every stream that names its type, in order of declaration', () => {
    const run = start(
      plan({
        streams: [
          stream('B', [fromEvent('X')], { operators: [emit('B')] }),
          stream('Other', [fromEvent('Y')], { operators: [emit('Other')] }),
          stream('A', [fromEvent('X')], { operators: [emit('A')] }),
        ],
      }),
    );
    run.push('X', 5, { v: 1 });
    expect(run.outputs).toEqual(['B@5 {"v":1}', 'A@5 {"v":1}']);
  });

  it('queues results behind everything the event itself causes: a cause comes before its effects', () => {
    const run = start(
      plan({
        streams: [
          stream('Last', [fromStream(2)], { operators: [emit('Last')] }),
          stream('Middle', [fromStream(2)], { operators: [emit('Middle')] }),
          stream('First', [fromEvent('X')], { operators: [emit('First')] }),
          stream('Second', [fromEvent('X')], { operators: [emit('Second')] }),
        ],
      }),
    );
    run.push('X', 1);
    expect(run.outputs.map((text) => text.split('@')[0])).toEqual(['First', 'Second', 'Last', 'Middle']);
  });

  it('follows chains of a thousand streams without a limit of depth', () => {
    const streams = Array.from({ length: 1_000 }, (_, i) => stream(`S${i}`, [i === 0 ? fromEvent('X') : fromStream(i - 1)]));
    const run = start(plan({ streams: [...streams, stream('End', [fromStream(999)], { operators: [emit('End')] })] }));
    run.push('X', 1, { v: 1 });
    expect(run.outputs).toEqual(['End@1 {"v":1}']);
  });

  it('delivers a type that extends the one a stream names', () => {
    const run = start(plan({ streams: [stream('S', [fromEvent('Login', 'AdminLogin')], { operators: [emit('S')] })] }));
    run.push('AdminLogin', 1);
    run.push('Logout', 2);
    expect(run.outputs).toEqual(['S@1 {}']);
  });

  it('unites the inputs of a merge, each through its own operators, in order of arrival', () => {
    const big = { ...fromEvent('B'), operators: [where(binary(field('v'), '>', constant(10)))] };
    const run = start(plan({ streams: [stream('M', [fromEvent('A'), big], { operators: [emit('M')] })] }));
    run.push('B', 1, { v: 5 });
    run.push('B', 2, { v: 50 });
    run.push('A', 3, { v: 1 });
    expect(run.outputs).toEqual(['M@2 {"v":50}', 'M@3 {"v":1}']);
  });

  it('gives the branches of a fork in written order, and each branch to its own followers as well', () => {
    const fork = operator({
      kind: 'fork',
      branches: [
        { name: 'high', operators: [where(binary(field('v'), '>', constant(10))), emit('high')] },
        { name: 'all', operators: [emit('all')] },
      ],
    });
    const run = start(
      plan({
        streams: [
          stream('High', [fromBranch(1, 'high')], { operators: [emit('High')] }),
          stream('F', [fromEvent('X')], { operators: [fork] }),
          stream('Both', [fromStream(1)], { operators: [emit('Both')] }),
        ],
      }),
    );
    run.push('X', 1, { v: 20 });
    expect(run.outputs.map((text) => text.split('@')[0])).toEqual(['F high', 'F all', 'High', 'Both', 'Both']);
    run.push('X', 2, { v: 2 });
    expect(run.outputs.slice(5).map((text) => text.split('@')[0])).toEqual(['F all', 'Both']);
  });

  it('keeps event_type until an emit and gives followers the emitted type', () => {
    const typeOf = { kind: 'attribute', type: { kind: 'str' }, of: { kind: 'current' }, name: 'event_type' } as const;
    const run = start(
      plan({
        streams: [
          stream('Plain', [fromEvent('X')], { operators: [select({ v: field('v') })] }),
          stream('Named', [fromEvent('X')], { operators: [emit('T', { v: field('v') })] }),
          stream('P', [fromStream(0)], { operators: [emit('P', { of: typeOf })] }),
          stream('N', [fromStream(1)], { operators: [emit('N', { of: typeOf })] }),
        ],
      }),
    );
    run.push('X', 1, { v: 1 });
    expect(run.outputs).toEqual(['Named T@1 {"v":1}', 'P@1 {"of":"X"}', 'N@1 {"of":"T"}']);
  });

  it('shows declared fields first and null where they are absent, then the others', () => {
    const declared = {
      name: 'E',
      ancestors: [],
      timeField: null,
      fields: ['a', 'b'].map((name) => ({ name, type: { kind: 'int' } as const, optional: true })),
    };
    const run = start(plan({ events: [declared], streams: [stream('S', [fromEvent('E')], { operators: [emit('S')] })] }));
    run.push('E', 1, { x: 9, b: 2 });
    expect(run.outputs).toEqual(['S@1 {"a":null,"b":2,"x":9}']);
  });

  it('changes nothing for an invalid event, and counts it', () => {
    const declared = {
      name: 'E',
      ancestors: [],
      timeField: null,
      fields: [{ name: 'a', type: { kind: 'int' } as const, optional: false }],
    };
    const run = start(plan({ events: [declared], streams: [stream('S', [fromEvent('E')], { operators: [emit('S')] })] }));
    run.push('E', 1, { a: 'text' });
    run.push('E', 2, {});
    run.push('E', 3, { a: 1 });
    expect(run.outputs).toEqual(['S@2 {"a":null}', 'S@3 {"a":1}']);
    const { eventsProcessed, eventsInvalid, eventsIncomplete, outputs } = run.engine.counters();
    expect({ eventsProcessed, eventsInvalid, eventsIncomplete, outputs }).toEqual({
      eventsProcessed: 2,
      eventsInvalid: 1,
      eventsIncomplete: 1,
      outputs: 2,
    });
  });
});
