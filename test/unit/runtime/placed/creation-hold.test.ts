import { expect, it } from 'vitest';
import { ContentIds } from '../../../../worker/runtime/placed/content-ids.ts';
import { CreationHold } from '../../../../worker/runtime/placed/creation-hold.ts';
import { CREATION_STATE_FORMAT } from '../../../../worker/runtime/placed/placed-state.ts';

const output = (time: number) => ({ kind: 'o', stream: 'S', type: 'S', time, fieldsJson: '{}' });
const before = CREATION_STATE_FORMAT - 1;

it('ids are those of a worker that knows nothing of when the placement came from the first state on that it may go on with', () => {
  const ids = new ContentIds('p', [], 70);
  const hold = new CreationHold(ids);
  expect(ids.next(output(1))).toMatch(/^p-1y-/);
  const later = hold.save(CREATION_STATE_FORMAT);
  expect([later.createdIndex, hold.isHeld, hold.isReadIn(CREATION_STATE_FORMAT), hold.isReadIn(before)]).toEqual([70, false, true, false]);
  const saved = hold.save(before);
  expect(saved).not.toHaveProperty('createdIndex');
  const ofVersionBefore = new ContentIds('p', saved.ids);
  expect([ids.next(output(1)), ids.next(output(2))]).toEqual([ofVersionBefore.next(output(1)), ofVersionBefore.next(output(2))]);
  expect(hold.save(CREATION_STATE_FORMAT)).not.toHaveProperty('createdIndex');
});

it('what has such an id waits until the state counts, and no longer', () => {
  const hold = new CreationHold(new ContentIds('p', [], 70));
  const later = hold.save(CREATION_STATE_FORMAT);
  const saved = hold.save(before);
  expect([hold.isHeld, hold.isReadIn(before), hold.isReadIn(CREATION_STATE_FORMAT)]).toEqual([true, false, false]);
  expect([hold.committed(undefined), hold.committed(later), hold.isHeld]).toEqual([false, false, true]);
  expect([hold.committed(saved), hold.isHeld, hold.isReadIn(before)]).toEqual([true, false, true]);
  hold.save(before);
  expect([hold.isHeld, hold.committed(saved)]).toEqual([false, false]);
});

it('nothing waits of a placement whose ids never told when it came', () => {
  const hold = new CreationHold(new ContentIds('p'));
  hold.save(before);
  expect([hold.isHeld, hold.isReadIn(1)]).toEqual([false, true]);
});
