import { describe, expect, it } from 'vitest';
import { ThreadChoice } from '../../../../cli/simulation/threads/thread-choice.ts';

/** A choice that has seen one thread read 1,000 bytes per millisecond for 200 ms. */
function measured(): ThreadChoice {
  const choice = new ThreadChoice(500);
  for (let now = 10; now <= 210; now += 10) choice.noteAlone((now - 10) * 1_000, now);
  return choice;
}

describe('the choice of threads', () => {
  it('starts none before it has measured', () => {
    const choice = new ThreadChoice(500);
    choice.noteAlone(0, 10);
    choice.noteAlone(1_000, 20);
    expect(choice.isWorthStarting(1e12, 20)).toBe(false);
  });

  it('starts them where one thread would be busy for long, and not where it is soon through', () => {
    expect(measured().isWorthStarting(400_000, 210)).toBe(false);
    expect(measured().isWorthStarting(600_000, 210)).toBe(true);
  });

  it('makes pieces that take a thread a moment, within bounds', () => {
    expect(measured().pieceBytes).toBe(64 * 1024);
    const fast = new ThreadChoice(500);
    for (let now = 10; now <= 210; now += 10) fast.noteAlone((now - 10) * 20_000, now);
    expect(fast.pieceBytes).toBe(500_000);
    for (let now = 220; now <= 420; now += 10) fast.noteAlone(now * 1_000_000, now);
    expect(fast.pieceBytes).toBe(1024 * 1024);
  });

  it('keeps them while they gain', () => {
    const choice = measured();
    choice.begin(0, 300);
    for (let part = 1; part <= 10; part++) expect(choice.isWorthGoingOn(part * 160 * 1_500, 300 + part * 160)).toBe(true);
  });

  it('goes on alone when two parts in a row have gained nothing', () => {
    const choice = measured();
    choice.begin(0, 300);
    expect(choice.isWorthGoingOn(160 * 1_050, 460)).toBe(true);
    expect(choice.isWorthGoingOn(320 * 1_050, 620)).toBe(false);
  });

  it('knows from the pieces of one thread that it has become faster since', () => {
    const choice = measured();
    choice.noteOwnPiece(100_000, 50);
    choice.begin(0, 300);
    expect(choice.isWorthGoingOn(160 * 1_500, 460)).toBe(true);
    expect(choice.isWorthGoingOn(320 * 1_500, 620)).toBe(false);
  });

  it('forgives one part', () => {
    const choice = measured();
    choice.begin(0, 300);
    expect(choice.isWorthGoingOn(100_000, 460)).toBe(true);
    expect(choice.isWorthGoingOn(500_000, 620)).toBe(true);
    expect(choice.isWorthGoingOn(600_000, 780)).toBe(true);
  });

  it('that is made for no measure uses them at once and always', () => {
    const choice = new ThreadChoice(0);
    expect(choice.isWorthStarting(1, 10)).toBe(true);
    choice.begin(0, 10);
    for (let now = 200; now < 2_000; now += 200) expect(choice.isWorthGoingOn(0, now)).toBe(true);
  });
});
