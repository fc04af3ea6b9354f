import { expect, it } from 'vitest';
import { SampleAnswers } from '../../../cli/console/editor/sample-answers.ts';

const output = { type: 'output_event', stream: 'S', event_type: 'S', timestamp: 1, data: { x: 1 } } as const;
const injected = { type: 'events_injected' as const, accepted: 4, rejected: 0, errors: [], outputs: 3 };

it('is through when as many alerts have come as there were, and not before', () => {
  const answers = new SampleAnswers();
  answers.take(output);
  answers.take(injected);
  answers.take(output);
  expect(answers.result).toBeUndefined();
  answers.take(output);
  expect(answers.result).toEqual({ accepted: 4, alerts: 3, outputs: [output, output, output], errors: [], notes: [] });
});

it('does not wait for alerts that the server left out, and says how many those are', () => {
  const answers = new SampleAnswers();
  answers.take({ type: 'gap', skipped: 2 });
  answers.take(output);
  answers.take(injected);
  expect(answers.result).toMatchObject({ alerts: 3, outputs: [output], notes: ['2 alerts came too fast, and are not shown'] });
});

it('gives what was refused and passed over', () => {
  const answers = new SampleAnswers();
  const errors = [{ index: 1, code: 'invalid_event', error: 'no' }];
  answers.take({ ...injected, outputs: 0, errors, events_late: 1, unread_types: [{ event_type: 'B', events: 2, did_you_mean: 'A' }] });
  expect(answers.result).toMatchObject({
    errors: ['Event 2: no'],
    notes: ['2 events of type B, which no stream reads (did you mean A?)', '1 event too late for a window, a run or a join'],
  });
});
