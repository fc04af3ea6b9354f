import { describe, expect, it } from 'vitest';
import { limits } from '../../../shared/limits.ts';
import { OutputRing } from '../../../worker/runtime/pipelines/output-ring.ts';
import type { Follower, Output, OutputCursor } from '../../../worker/runtime/service.ts';

const output = (sequence: number, fieldsJson = '{}'): Output => ({
  sequence,
  id: `o${sequence}`,
  stream: 'S',
  eventType: 'S',
  timestamp: 0,
  fieldsJson,
  eventIndex: 0,
});
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function filled(count: number): OutputRing {
  const ring = new OutputRing();
  for (let n = 1; n <= count; n++) ring.push(output(n));
  return ring;
}

function follow(
  ring: OutputRing,
  more: Partial<Follower> = {},
): { readonly cursor: OutputCursor; readonly calls: string[]; read(max?: number): string } {
  const calls: string[] = [];
  const cursor = ring.follow({ onReadable: () => calls.push('readable'), onEnd: (reason) => calls.push(reason), ...more });
  return {
    cursor,
    calls,
    read: (max = 10_000) => {
      const { skipped, outputs } = cursor.read(max);
      const range = outputs.length === 0 ? '' : `${outputs[0]?.sequence}-${outputs.at(-1)?.sequence}`;
      return skipped === 0 ? range : `gap ${skipped}, ${range}`;
    },
  };
}

describe('the ring of outputs', () => {
  it('shows a new follower what comes, and tells him once', async () => {
    const ring = filled(5);
    const { calls, read } = follow(ring);
    expect(read()).toBe('');
    for (let n = 6; n <= 8; n++) ring.push(output(n));
    expect(calls).toEqual([]);
    await turn();
    expect(calls).toEqual(['readable']);
    expect([read(2), read()]).toEqual(['6-7', '8-8']);
    ring.push(output(9));
    await turn();
    expect(calls).toEqual(['readable', 'readable']);
  });

  it('does not tell again what was not read', async () => {
    const ring = filled(0);
    const { calls, read } = follow(ring);
    ring.push(output(1));
    await turn();
    ring.push(output(2));
    await turn();
    expect(calls).toEqual(['readable']);
    expect(read(1)).toBe('1-1');
    await turn();
    expect(calls).toEqual(['readable']);
    expect(read()).toBe('2-2');
  });

  it.each([
    [{ after: 1_490 }, '1491-1500'],
    [{ after: 500 }, '501-1500'],
    [{ after: 0 }, 'gap 500, 501-1500'],
    [{ after: 1_500 }, ''],
    [{ after: 9_999 }, ''],
  ])('goes on from %j', async (from, range) => {
    const { calls, read } = follow(filled(1_500), from);
    await turn();
    expect(calls).toEqual(range === '' ? [] : ['readable']);
    expect(read()).toBe(range);
  });

  it('says how much a slow reader missed, and costs nothing meanwhile', async () => {
    const ring = filled(0);
    const { read } = follow(ring);
    for (let n = 1; n <= 2_500; n++) ring.push(output(n));
    expect(read(10)).toBe('gap 1500, 1501-1510');
    ring.skip(100);
    ring.push(output(2_601));
    expect(read()).toBe('gap 1090, 2601-2601');
  });

  it('keeps no more text than it may: the oldest go, and one that is more by itself', () => {
    const ring = filled(3);
    const quarter = 'x'.repeat(limits.outputRingCharsMax / 4);
    for (let n = 4; n <= 8; n++) ring.push(output(n, quarter));
    expect(follow(ring, { after: 0 }).read()).toBe('gap 4, 5-8');
    ring.push(output(9));
    expect(follow(ring, { after: 0 }).read()).toBe('gap 5, 6-9');
    ring.push(output(10, 'x'.repeat(limits.outputRingCharsMax + 1)));
    expect(follow(ring, { after: 0 }).read()).toBe('gap 10, ');
    for (let n = 11; n <= 14; n++) ring.push(output(n, quarter));
    ring.skip(1);
    for (let n = 16; n <= 19; n++) ring.push(output(n, quarter));
    expect(follow(ring, { after: 0 }).read()).toBe('gap 15, 16-19');
  });

  it('tells its end to those who follow, to later ones too, and to nobody who closed', async () => {
    const ring = filled(3);
    const [first, closed] = [follow(ring, { after: 0 }), follow(ring)];
    closed.cursor.close();
    ring.end('shutdown');
    const late = follow(ring, { after: 1 });
    await turn();
    expect([first.calls.includes('shutdown'), closed.calls, late.calls.includes('shutdown')]).toEqual([true, [], true]);
    expect([first.read(), late.read()]).toEqual(['1-3', '2-3']);
  });
});
