import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { ClockTicks } from '../../../worker/runtime/clock-ticks.ts';
import type { HostedPipeline } from '../../../worker/runtime/pipelines/hosted-pipeline.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A pipeline that notes its ticks; `own` are the numbers of one that runs for a cluster. */
function pipelineOf(more: Partial<HostedPipeline> & { readonly own?: number }, given: unknown[][]): HostedPipeline {
  const { own = 0, ...members } = more;
  let sequence = own;
  return {
    takesTicks: true,
    isPlaced: own > 0,
    isLogged: false,
    tickTime: () => 800,
    rests: () => false,
    clock: { isAhead: false, now: () => 5_000 },
    nextSequence: () => ++sequence,
    tick: (...[number, time]: [number, number]) => void given.push([members.id, number, time]),
    ...members,
  } as unknown as HostedPipeline;
}

it('numbers the ticks of what runs for a cluster as its inputs are numbered, and gives the others one number together', () => {
  const given: unknown[][] = [];
  let sequence = 100;
  const pipelines = [
    pipelineOf({ id: 'one' }, given),
    pipelineOf({ id: 'placed', own: 7 }, given),
    pipelineOf({ id: 'two' }, given),
    pipelineOf({ id: 'resting', rests: () => true }, given),
    pipelineOf({ id: 'placed and waiting', own: 7, tickTime: () => undefined }, given),
    pipelineOf({ id: 'stopped', takesTicks: false }, given),
  ];
  const ticks = new ClockTicks({ pipelines: () => pipelines, nextSequence: () => ++sequence, arrivalTime: () => 1_000, storage: null });
  ticks.start();
  vi.advanceTimersByTime(100);
  ticks.stop();
  expect(given).toEqual([
    ['placed', 8, 800],
    ['one', 101, 1_000],
    ['two', 101, 1_000],
  ]);
});
