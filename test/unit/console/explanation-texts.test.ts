import { expect, it } from 'vitest';
import { noRunTexts, waitingText } from '../../../cli/console/pages/explanation-texts.ts';

it('says of a stream of trends what begins one, not that no run is open', () => {
  expect(noRunTexts(true)).toEqual({ title: 'Trends', begins: 'A trend begins with:' });
  expect(noRunTexts(false)).toEqual({ title: 'No run is open', begins: 'One begins with:' });
});

it('counts the events of a side of a join that wait until time has come to them', () => {
  expect([waitingText(1, 0), waitingText(0, 0)]).toEqual(['1 event waiting', '0 events waiting']);
  expect([waitingText(0, 2), waitingText(1, 2)]).toEqual([
    '2 events that time has not reached',
    '1 event waiting, 2 events that time has not reached',
  ]);
});
