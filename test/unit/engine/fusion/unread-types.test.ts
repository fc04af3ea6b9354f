import { describe, expect, it } from 'vitest';
import { createEngine } from '../../../../worker/engine/create-engine.ts';
import type { Engine, EngineHost } from '../../../../worker/engine/engine.ts';
import { planOf } from '../../../scenarios/run-program.ts';
import { outputText } from '../support/engine-run.ts';

const program = `event Tick:
    price: float

event Idle:
    x: int

stream Averages = Tick.window(10s).aggregate(n: count()).emit(n: n)
stream Open = Stray.emit(a: a)
`;

function started(): { readonly outputs: string[]; readonly engine: Engine } {
  const outputs: string[] = [];
  const host: EngineHost = { output: (event) => outputs.push(outputText(event)) };
  return { outputs, engine: createEngine(planOf(program), host) };
}

describe('an event of a type that the program does not know', () => {
  it('counts and moves time, as the whole event would', () => {
    const [short, long] = [started(), started()];
    const enter = short.engine.entries.unread?.('Unknown');
    for (const { engine } of [short, long])
      engine.push({ type: 'Tick', fields: new Map([['price', 1]]), timestamp: 1_000, fallbackTime: 0 });
    enter?.(10_000, true);
    long.engine.push({ type: 'Unknown', fields: new Map([['a', 1]]), fallbackTime: 10_000 });
    expect(short.outputs).toHaveLength(1);
    expect(short.outputs).toEqual(long.outputs);
    expect(short.engine.counters()).toEqual(long.engine.counters());
    expect(short.engine.snapshot().state).toEqual(long.engine.snapshot().state);
  });

  it.each(['Tick', 'Idle', 'Stray'])('is not one of %s, which is declared or read', (type) => {
    expect(started().engine.entries.unread?.(type)).toBeNull();
  });
});
