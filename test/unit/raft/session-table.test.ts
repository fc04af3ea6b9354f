import { describe, expect, it } from 'vitest';
import { SessionTable } from '../../../coordinator/raft/sessions/session-table.ts';

const command = (client: number, seq: number, lowestUnacknowledged = 1) => ({ client, seq, lowestUnacknowledged });

describe('sessions of clients', () => {
  it('run a command once and give its result again', () => {
    const table = new SessionTable<number>(10);
    table.open(1);
    let runs = 0;
    const run = (): number => ++runs;
    expect(table.apply(command(1, 1), run)).toEqual({ kind: 'done', result: 1 });
    expect(table.apply(command(1, 1), run)).toEqual({ kind: 'done', result: 1 });
    expect(table.apply(command(1, 2), run)).toEqual({ kind: 'done', result: 2 });
    expect(table.apply(command(1, 1), run)).toEqual({ kind: 'done', result: 1 });
  });

  it('never run a command again whose result the client has, or of a session that is forgotten', () => {
    const table = new SessionTable<number>(2);
    for (const client of [1, 2]) table.open(client);
    table.apply(command(1, 1), () => 5);
    table.apply(command(1, 2, 2), () => 6);
    const never = (): number => {
      throw new Error('it is run');
    };
    expect(table.apply(command(1, 1), never)).toEqual({ kind: 'expired' });
    table.open(3);
    expect(table.size).toBe(2);
    expect(table.apply(command(2, 1), never)).toEqual({ kind: 'expired' });
    expect(table.apply(command(1, 2, 2), never)).toEqual({ kind: 'done', result: 6 });
  });

  it('are the same after a snapshot, the order in which they will be forgotten included', () => {
    const table = new SessionTable<number>(2);
    for (const client of [1, 2]) table.open(client);
    table.apply(command(1, 1), () => 5);
    const restored = SessionTable.restored(JSON.parse(JSON.stringify(table.save())) as ReturnType<typeof table.save>, 2);
    expect(restored.save()).toEqual(table.save());
    restored.open(3);
    expect(restored.apply(command(1, 1), () => 9)).toEqual({ kind: 'done', result: 5 });
    expect(restored.apply(command(2, 1), () => 9)).toEqual({ kind: 'expired' });
  });
});
