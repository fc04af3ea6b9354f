import type { Plan } from '../../../../shared/language/plan/plan.ts';
import { Lane, type LaneSetup } from './lane.ts';
import type { LaneTrial } from './lane-choice.ts';

/** How long a try takes at most, ms; its first part, in which code is being compiled, is not looked at. */
const TRIAL_MS = 50;
const PART_MS = 8;
const RECORD_BYTES = 64 * 1024;

/** Reads the beginning of the file, to byte `most` at most, as a lane that takes no event. @throws CepError as `Lane.open` does */
export function tryLane(plan: Plan, setup: LaneSetup, most: number): LaneTrial {
  const lane = Lane.open({ ...setup, plan, number: -1, recordBytes: RECORD_BYTES, flush: false, from: Infinity });
  try {
    const begun = performance.now();
    let [part, partBytes, msPerByte] = [begun, 0, Infinity];
    for (let record = lane.next(); record !== undefined && record.read < most; record = lane.next()) {
      const now = performance.now();
      if (now - part < PART_MS) continue;
      msPerByte = Math.min(msPerByte, (now - part) / (record.read - partBytes));
      [part, partBytes] = [now, record.read];
      if (now - begun > TRIAL_MS) break;
    }
    const { byOwner } = lane.share;
    const events = byOwner.reduce((sum, count) => sum + count, 0);
    return { msPerByte, shareMax: events === 0 ? 1 : Math.max(...byOwner) / events };
  } finally {
    lane.close();
  }
}
