import { expect, it } from 'vitest';
import type { Database } from '../../../worker/connectors/database/database.ts';
import { TableSink } from '../../../worker/connectors/database/table-sink.ts';

function sinkTo(...columns: string[]): { readonly sink: TableSink; readonly sent: unknown[] } {
  const sent: unknown[] = [];
  const database: Database = {
    query: async (text, values) => {
      sent.push([text.slice(0, text.indexOf(' values')), ...values]);
      return [];
    },
    quoted: (name) => name.join('.'),
    describe: async () => ({ columns: new Map(columns.map((name) => [name, 'text'])), hasUniqueId: true }),
    replacing: () => '',
    timeText: String,
    close: () => Promise.resolve(),
  };
  return { sink: new TableSink({ database, table: 'alerts' }), sent };
}

const message = (more: object, data: object) => ({
  id: 'a1',
  topic: null,
  payload: JSON.stringify({ id: 'a1', event_type: 'S', timestamp: '2026-01-01T00:00:00Z', ...more, data }),
});

it('refuses a field that has no column, also one that is named as the text of an alert', async () => {
  const { sink, sent } = sinkTo('id', 'n');
  await expect(sink.send(message({}, { n: 1, message: 'disk full' }))).rejects.toMatchObject({
    code: 'unfit_table',
    message: expect.stringContaining('no column for `message`'),
  });
  expect(sent).toEqual([]);
});

it('needs no column for the text of an alert', async () => {
  const { sink, sent } = sinkTo('id', 'n');
  await sink.send(message({ message: 'disk full' }, { n: 1 }));
  expect(sent).toEqual([['insert into alerts (id, n)', 'a1', 1]]);
});

it('keeps the field named `message` in the column of that name where there is no text of an alert', async () => {
  const { sink, sent } = sinkTo('id', 'message');
  await sink.send(message({}, { message: 'disk full' }));
  expect(sent).toEqual([['insert into alerts (id, message)', 'a1', 'disk full']]);
});
