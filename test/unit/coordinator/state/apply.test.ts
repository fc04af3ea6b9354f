import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { emptyState } from '../../../../coordinator/state/cluster-state.ts';
import { commandTable, decodeProposal, encodeProposal, UnknownCommand } from '../../../../coordinator/state/commands.ts';
import { decodeSnapshot, encodeSnapshot } from '../../../../coordinator/state/snapshot.ts';
import { transitions } from '../../../../coordinator/state/transitions.ts';
import { InvariantError } from '../../../../shared/errors/error.ts';
import { anyLog, anyProposal, applyAll, step } from './commands.ts';
import { stateProblems } from './invariants.ts';

const bytesOf = (state: Parameters<typeof encodeSnapshot>[0]): Buffer => Buffer.concat([...encodeSnapshot(state)]);

describe('any sequence of commands', () => {
  it('leaves a state that holds together, after each of them', () => {
    fc.assert(
      fc.property(anyLog, (log) => {
        let state = emptyState;
        for (const one of log) {
          state = step(state, one).state;
          const problems = stateProblems(state);
          if (problems.length > 0) expect([problems, one.command]).toEqual([[], one.command]);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('changes a status only as the table of transitions says', () => {
    fc.assert(
      fc.property(anyLog, (log) => {
        let before = emptyState;
        for (const one of log) {
          const { state } = step(before, one);
          for (const kind of ['worker', 'placement', 'migration'] as const) {
            const table = `${kind}s` as const;
            for (const [key, { status }] of state[table].entries()) {
              const old = before[table].get(key);
              const isNewProcess = 'incarnation' in (old ?? {}) && one.command.type === 'RegisterWorker';
              if (old === undefined || old.status === status || isNewProcess) continue;
              expect((transitions[kind] as Record<string, readonly string[]>)[old.status]).toContain(status);
            }
          }
          before = state;
        }
      }),
      { numRuns: 200 },
    );
  });

  it('gives the same bytes every time, also through the bytes of the log', () => {
    fc.assert(
      fc.property(anyLog, (log) => {
        const again = log.map((one) => decodeProposal(encodeProposal(one)));
        expect(bytesOf(applyAll(again)).equals(bytesOf(applyAll(log)))).toBe(true);
      }),
      { numRuns: 100 },
    );
  });

  it('gives from a snapshot what it gives from the beginning', () => {
    fc.assert(
      fc.property(anyLog, fc.nat(), (log, cut) => {
        const at = cut % (log.length + 1);
        const middle = decodeSnapshot(bytesOf(applyAll(log.slice(0, at))));
        expect(bytesOf(applyAll(log.slice(at), middle)).equals(bytesOf(applyAll(log)))).toBe(true);
      }),
      { numRuns: 150 },
    );
  });

  it('leaves the states before it as they were', () => {
    fc.assert(
      fc.property(anyLog, anyProposal, (log, next) => {
        const before = applyAll(log);
        const bytes = bytesOf(before);
        step(before, next);
        expect(bytesOf(before).equals(bytes)).toBe(true);
      }),
      { numRuns: 50 },
    );
  });

  it('uses every command, so that the laws above are about all of them', () => {
    const done = new Set<string>();
    const logs = fc.sample(anyLog, { numRuns: 600, seed: 7 });
    for (const log of logs) {
      let state = emptyState;
      for (const one of log) {
        const applied = step(state, one);
        if (applied.result.kind === 'done') done.add(one.command.type);
        state = applied.state;
      }
    }
    expect([...done].sort()).toEqual(Object.keys(commandTable).sort());
  });
});

describe('what is no command of this version', () => {
  const line = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));
  const create = { format: 1, type: 'CreateConnector', payload: { name: 'a', type: 'kafka', parameters: {} }, at: 5 };

  it.each([
    ['of a later format', { ...create, format: 5 }, /format 5/],
    ['of an unknown kind', { ...create, type: 'SplitTheMoon' }, /no command 'SplitTheMoon'/],
    ['named like what objects inherit', { ...create, type: 'toString' }, /no command 'toString'/],
    [
      'with a payload of another shape',
      { ...create, payload: { name: 'a', type: 'kafka', parameters: 5 } },
      /no CreateConnector: parameters/,
    ],
    ['with a member that it does not have', { ...create, payload: { ...create.payload, color: 'red' } }, /no CreateConnector/],
    ['without a time', { ...create, at: undefined }, /no command/],
    ['with a time that is no whole number', { ...create, at: 1.5 }, /no command/],
  ])('is refused, %s', (_what, value, message) => {
    expect(() => decodeProposal(line(value))).toThrow(UnknownCommand);
    expect(() => decodeProposal(line(value))).toThrow(message);
  });

  it.each([
    ['no JSON', new TextEncoder().encode('{')],
    ['not UTF-8', new Uint8Array([0xff, 0xfe])],
    ['nothing', new Uint8Array(0)],
    ['too long', new Uint8Array(3_000_000).fill(0x20)],
  ])('is refused when it is %s', (_what, bytes) => {
    expect(() => decodeProposal(bytes)).toThrow(UnknownCommand);
  });

  it('is refused whatever bytes come', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array({ maxLength: 60 }),
          fc.json().map((text) => new TextEncoder().encode(text)),
        ),
        (bytes) => {
          expect(() => decodeProposal(bytes)).toThrow(UnknownCommand);
        },
      ),
    );
  });
});

describe('a proposal that could not be read again', () => {
  it.each([
    ['a payload of another shape', { command: { type: 'DeleteConnector', payload: { name: 'no name' } }, request: undefined, atMs: 0 }],
    ['a time that is no whole number', { command: { type: 'DeleteConnector', payload: { name: 'a' } }, request: undefined, atMs: 0.5 }],
  ] as const)('is not written: %s', (_what, proposal) => {
    expect(() => encodeProposal(proposal)).toThrow(InvariantError);
  });
});
