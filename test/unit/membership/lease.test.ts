import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Lease } from '../../../worker/membership/lease.ts';

describe('a lease', () => {
  it('is never held at a moment that no answer covers, whatever order answers come in', () => {
    const renewals = fc.array(fc.record({ sentAt: fc.nat(10_000), leaseMs: fc.integer({ min: 1, max: 3_000 }) }), { maxLength: 20 });
    fc.assert(
      fc.property(renewals, fc.nat(15_000), (all, now) => {
        const lease = new Lease();
        for (const { sentAt, leaseMs } of all) lease.renew(sentAt, leaseMs);
        const isCovered = all.some(({ sentAt, leaseMs }) => now < sentAt + leaseMs);
        return lease.isHeld(now) === isCovered && lease.remainingMs(now) > 0 === isCovered;
      }),
    );
  });

  it('that was ended is held again only by an answer that comes later', () => {
    const lease = new Lease();
    lease.renew(0, 1_000);
    lease.end();
    expect(lease.isHeld(1)).toBe(false);
    lease.renew(10, 100);
    expect([lease.isHeld(109), lease.isHeld(110)]).toEqual([true, false]);
  });
});
