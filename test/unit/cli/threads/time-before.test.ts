import { expect, it } from 'vitest';
import { timeBefore } from '../../../../cli/simulation/threads/time-before.ts';
import { EventSchemas } from '../../../../shared/events/schema.ts';
import { WorkFolder } from '../work-folder.ts';

const folder = new WorkFolder();
const schemas = new EventSchemas([]);

function before(content: string, at: number, format: 'evt' | 'jsonl' = 'evt'): number | undefined {
  return timeBefore({ path: folder.write('events', content), format, schemas }, at);
}

const first = '@1 A { n: 0 }\n';

it('is the offset of the last line before the byte that has one', () => {
  const text = `${first}@5 A { n: 1 }\nA { n: 2 }\n# none\nA { n: 3 }\n`;
  expect(before(text, text.indexOf('A { n: 3'))).toBe(5);
});

it('is that of the line in which the byte stands: the first line behind it begins later', () => {
  const text = `${first}@5 A { n: 1 }\n@7 A { n: 2 }\nA { n: 3 }\n`;
  expect(before(text, text.indexOf('@7') + 3)).toBe(7);
});

it('is set by BATCH, and by the time of a JSON event', () => {
  const text = `${first}BATCH 90\nA { n: 2 }\n`;
  expect(before(text, text.length)).toBe(90);
  const json = '{"event_type":"A"}\n{"event_type":"A","timestamp":1700000000000}\n{"event_type":"A"}\n';
  expect(before(json, json.length, 'jsonl')).toBe(1_700_000_000_000);
});

it('is looked for beyond the line before', () => {
  const text = `${first}@5 A { n: 1 }\n${'A { n: 2 }\n'.repeat(500)}`;
  expect(before(text, text.length)).toBe(5);
});

it('is not known where no line tells', () => {
  const text = `${'A { n: 2 }\n'.repeat(500)}`;
  expect(before(text, 3_000)).toBeUndefined();
  expect(before(text, 0)).toBeUndefined();
});
