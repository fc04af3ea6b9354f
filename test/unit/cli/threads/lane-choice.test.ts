import { describe, expect, it } from 'vitest';
import { LaneChoice } from '../../../../cli/simulation/threads/keys/lane-choice.ts';

/** One run goes through a file of so many bytes at 100 bytes per ms, for 200 ms. */
function alone(size: number): LaneChoice {
  const choice = new LaneChoice(size, { isForced: false });
  for (let ms = 0; ms <= 200; ms += 25) choice.noteAlone(ms * 100, 1_000 + ms);
  return choice;
}

describe('lanes', () => {
  it('are tried where one run would still be busy for long', () => {
    expect(alone(150_000).isWorthTrying(20_000, 1_200)).toBe(false);
    expect(alone(200_000).isWorthTrying(20_000, 1_200)).toBe(true);
  });

  it('are not tried before it is known how fast one run is', () => {
    const choice = new LaneChoice(1_000_000, { isForced: false });
    choice.noteAlone(0, 1_000);
    choice.noteAlone(5_000, 1_050);
    expect(choice.isWorthTrying(5_000, 1_050)).toBe(false);
  });

  it('are started where they are through much sooner, though they begin again', () => {
    const choice = alone(1_000_000);
    // One run takes 10 ms for 1,000 bytes, of which reading is the half, or a tenth.
    expect(choice.isWorthStarting(20_000, 0, { msPerByte: 0.005, shareMax: 0.5 })).toBe(true);
    expect(choice.isWorthStarting(20_000, 0, { msPerByte: 0.007, shareMax: 0.5 })).toBe(false);
    expect(choice.isWorthStarting(20_000, 0, { msPerByte: 0.001, shareMax: 0.7 })).toBe(true);
    expect(choice.isWorthStarting(20_000, 0, { msPerByte: 0.001, shareMax: 0.9 })).toBe(false);
    expect(choice.isWorthStarting(20_000, 60_000, { msPerByte: 0.001, shareMax: 0.5 })).toBe(true);
    expect(choice.isWorthStarting(20_000, 60_000, { msPerByte: 0.003, shareMax: 0.5 })).toBe(false);
    expect(choice.isWorthStarting(500_000, 0, { msPerByte: 0.001, shareMax: 0.5 })).toBe(false);
  });

  it('are given up where one run would be through sooner from the beginning on', () => {
    const choice = alone(1_000_000);
    const looks = Array.from({ length: 5 }, (_, i) => choice.isWorthGoingOn(i * 20_000, 2_000 + i * 500));
    expect(looks).toEqual([true, true, true, false, false]);
  });

  it('go on where they are faster', () => {
    const choice = alone(1_000_000);
    expect(Array.from({ length: 9 }, (_, i) => choice.isWorthGoingOn(i * 90_000, 2_000 + i * 500))).not.toContain(false);
  });
});
