import type { IPublishPacket } from 'mqtt';
import { describe, expect, it } from 'vitest';
import { TakenMessages } from '../../../worker/connectors/mqtt/taken-messages.ts';

const packet = (messageId: number, payload: string, more: Partial<IPublishPacket> = {}): IPublishPacket => ({
  cmd: 'publish',
  topic: 't',
  payload: Buffer.from(payload),
  qos: 1,
  dup: true,
  retain: false,
  messageId,
  ...more,
});

describe('messages that were taken', () => {
  it('are known when they come again, by number and content, and as repetitions alone', () => {
    const taken = new TakenMessages([]);
    taken.add([packet(1, 'a'), packet(2, 'b')]);
    expect(taken.isRepetition(packet(1, 'a'))).toBe(true);
    expect(taken.isRepetition(packet(1, 'other'))).toBe(false);
    expect(taken.isRepetition(packet(3, 'a'))).toBe(false);
    expect(taken.isRepetition(packet(1, 'a', { topic: 'other' }))).toBe(false);
    expect(taken.isRepetition(packet(1, 'a', { dup: false }))).toBe(false);
  });

  it('are remembered over a restart, until the broker has heard of them', () => {
    const before = new TakenMessages([]);
    before.add([packet(1, 'a')]);
    const saved = before.with([packet(2, 'b'), packet(0, 'c', { qos: 0 })]);
    expect(saved).toHaveLength(2);
    const after = new TakenMessages(saved);
    expect([packet(1, 'a'), packet(2, 'b')].map((one) => after.isRepetition(one))).toEqual([true, true]);
    after.add([packet(3, 'd')]);
    after.confirm(2);
    expect([packet(1, 'a'), packet(2, 'b'), packet(3, 'd')].map((one) => after.isRepetition(one))).toEqual([false, false, true]);
    expect(after.count).toBe(3);
  });

  it('are all known when more come again than a session has numbers for, as some brokers do', () => {
    const numbers = 65_535;
    const packets = Array.from({ length: 80_000 }, (_, n) => packet((n % numbers) + 1, `${n}`));
    const taken = new TakenMessages([]);
    taken.add(packets);
    // Those that are not known would be taken, and push out the ones that come next.
    const again = packets.filter((one) => {
      const isKnown = taken.isRepetition(one);
      if (!isKnown) taken.add([one]);
      return !isKnown;
    });
    expect(again).toHaveLength(0);
    expect(taken.with([])).toHaveLength(numbers);
    taken.confirm(79_999);
    expect([packets[0], packets[79_998], packets[79_999]].map((one) => one && taken.isRepetition(one))).toEqual([false, false, true]);
  });
});
