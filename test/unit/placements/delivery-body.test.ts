import { expect, it } from 'vitest';
import { deliveryIn } from '../../../worker/placements/delivery-body.ts';

const bodyOf = (from: string, batches: string): Buffer =>
  Buffer.from(`{"epoch":7,"from":{"placement_id":"${from}","epoch":0},"batches":[${batches}]}`);

it('leaves injected events as they came, and gives those of another placement', () => {
  const list = '[ {"event_type":"A","fields":{"n":90071992547409931, "t":"]}\\""}} ]';
  const batches = `{"sequence":1,"received_at":5,"events":${list}},{"sequence":2,"received_at":6,"events":[]}`;
  const { epoch, batches: found } = deliveryIn(bodyOf('_external', batches));
  expect(epoch).toBe(7);
  expect(found.map(({ sequence, events }) => [sequence, Buffer.from(events as Uint8Array).toString()])).toEqual([
    [1, `{"events":${list}}`],
    [2, '{"events":[]}'],
  ]);
  const text = '{"event_type":"A","fields":{"n":1152921504606846976.0},"id":"x"}';
  const routed = `{"sequence":1,"received_at":5,"events":[${text}]}`;
  expect(deliveryIn(bodyOf('g:p:0', routed)).batches[0]?.events).toEqual([{ event_type: 'A', fields: { n: 2 ** 60 }, id: 'x', text }]);
});

it('gives the same list whatever stands around it', () => {
  const list = '[{"event_type":"A","fields":{"t":"ä"}}]';
  for (const batch of [
    `{"sequence":1,"received_at":5,"events":${list}}`,
    `{"sequence":1,"received_at":5,"events": ${list}}`,
    `{"sequence":1,"received_at":5, "events":${list} }`,
    `{"sequence":1,"events":${list},"received_at":5}`,
    `{"events":${list},"sequence":1,"received_at":5}`,
    `{"sequence":1,"received_at":5,"\\u0065vents":${list}}`,
  ]) {
    const [first, second] = deliveryIn(bodyOf('_external', `${batch},${batch.replace('"sequence":1', '"sequence":2')}`)).batches;
    for (const one of [first, second]) expect(Buffer.from(one?.events as Uint8Array).toString()).toBe(`{"events":${list}}`);
    expect([first?.sequence, second?.sequence, second?.received_at]).toEqual([1, 2, 5]);
  }
});

it('takes the word of the sender for where the lists stand, and looks for them where they do not stand there', () => {
  const list = '[{"event_type":"A","fields":{"l":[1]}}]';
  const batch = `{"sequence":1,"received_at":5,"events":${list}}`;
  const saying = (text: string, said: string, of = text) => {
    const body = bodyOf('_external', text);
    const start = body.indexOf(of);
    const events = deliveryIn(body, said.replace('start', `${start}`).replace('end', `${start + of.length}`)).batches[0]?.events;
    return Buffer.from(events as Uint8Array).toString();
  };
  expect(saying(batch, 'start-end', list)).toBe(`{"events":${list}}`);
  // Nobody could have found the end of it: whether it can be read is for the engine to say.
  expect(saying(batch.replace(list, '[}]'), 'start-end', '[}]')).toBe('{"events":[}]}');
  expect(saying(batch, 'start-end', '[1]')).toBe(`{"events":${list}}`);
  expect(saying(batch, 'start-end', `[${batch}]`)).toBe(`{"events":${list}}`);
  for (const said of ['', 'x', '1-2', '0-999999999', 'start-end,start-end', 'end-start', '-1-5']) {
    expect(saying(batch, said, list)).toBe(`{"events":${list}}`);
  }
});

it.each([
  ['cut', '{"sequence":1,"received_at":5,"events":[{}', /no JSON/],
  ['without a sequence', '{"received_at":5,"events":[]}', /sequence/],
  ['with two lists', '{"sequence":1,"received_at":5,"events":[],"more":[]}', /body/],
  [
    'with events twice from a placement',
    '{"sequence":1,"received_at":5,"events":[{}],"events":[]}',
    /2 lists of events in 1 batches/,
    'g:p:0',
  ],
  ['with events of another shape from a placement', '{"sequence":1,"received_at":5,"events":[{"event_type":1}]}', /events.0/, 'g:p:0'],
])('refuses a body %s', (_what, batches, message, from = '_external') => {
  expect(() => deliveryIn(bodyOf(from, batches))).toThrow(message);
});
