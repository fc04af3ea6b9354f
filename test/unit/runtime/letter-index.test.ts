import { expect, it } from 'vitest';
import { LetterIndex } from '../../../worker/connectors/delivery/letter-index.ts';

it('has the places of a page in order, with and without a filter, and how many there are', () => {
  const index = new LetterIndex();
  const file = { path: 'letters.jsonl' };
  const letter = { timestamp: '', error: '', event: { event_type: 'A', timestamp: 0, data: {} }, stream: 'S', attempts: 1 };
  const add = (id: number, connector: string, offset: number) =>
    index.add({ ...letter, id: String(id), connector, pipeline_id: 'p', code: 'http_503' }, file, offset, 10);
  for (let id = 0; id < 10; id++) add(id, id % 2 === 0 ? 'Even' : 'Odd', id * 10);
  add(0, 'Even', 100);
  const page = (limit: number, offset: number, filter = {}) => {
    const { total, places } = index.page('p', { limit, offset }, filter);
    return [total, places.map((place) => place.id).join('')];
  };
  expect([page(3, 0), page(3, 8), page(0, 0), page(3, 10), page(100, 0)]).toEqual([
    [10, '012'],
    [10, '89'],
    [10, ''],
    [10, ''],
    [10, '0123456789'],
  ]);
  expect([page(2, 1, { connector: 'Odd' }), page(9, 0, { code: 'none' })]).toEqual([
    [5, '35'],
    [0, ''],
  ]);
  expect(index.page('other', { limit: 1, offset: 0 }, {})).toEqual({ total: 0, places: [] });
  expect(index.page('p', { limit: 1, offset: 0 }, {}).places[0]).toMatchObject({ offset: 100 });
});
