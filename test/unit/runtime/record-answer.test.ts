import { expect, it } from 'vitest';
import { limits } from '../../../shared/limits.ts';
import { ANSWER_OUTPUTS_MAX, resultOf } from '../../../worker/runtime/pipelines/record-answer.ts';
import type { Output } from '../../../worker/runtime/service.ts';
import { RecordOutcome } from '../../../worker/runtime/threads/record-outcome.ts';

const output = (sequence: number, fieldsJson = '{}'): Output => ({
  ...{ sequence, id: String(sequence), stream: 'S', eventType: 'S', timestamp: 0, fieldsJson, eventIndex: 0 },
});

function answerTo(outputs: readonly Output[], wanted = true) {
  const made = new RecordOutcome({ slot: 0, sequence: 1, length: 1, outputsMax: null, streams: new Map([['S', 0]]) });
  for (const { sequence } of outputs) made.output({ stream: 'S', type: 'S', time: sequence, fields: new Map() });
  const { outputs: shown, outputCount } = resultOf(made.result(), outputs, { wanted });
  return [shown.length, shown[0]?.sequence, outputCount];
}

it('an answer holds the newest outputs, as many and as much text as it may, and says how many there were', () => {
  const many = Array.from({ length: ANSWER_OUTPUTS_MAX + 5 }, (_, at) => output(at));
  expect(answerTo(many)).toEqual([ANSWER_OUTPUTS_MAX, 5, ANSWER_OUTPUTS_MAX + 5]);
  const half = 'x'.repeat(limits.requestOutputCharsMax / 2);
  expect(answerTo([1, 2, 3].map((at) => output(at, half)))).toEqual([2, 2, 3]);
  expect(answerTo([output(1)])).toEqual([1, 1, 1]);
  expect(answerTo([output(1)], false)).toEqual([0, undefined, 1]);
});
