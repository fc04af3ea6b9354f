import { expect, it } from 'vitest';
import { limits } from '../../../shared/limits.ts';
import { ProgramLog } from '../../../worker/runtime/pipelines/program-log.ts';
import type { SentLogEntry } from '../../../worker/runtime/threads/messages.ts';

const line = (message: string): SentLogEntry => ({ stream: 'S', level: 'info', kind: 'print', message, dataJson: 'null' });
const sequences = (log: ProgramLog, limit = 1_000): readonly number[] => log.newest(limit).map(({ sequence }) => sequence);

it('shows the newest lines of a program, of which it keeps a thousand', () => {
  const log = new ProgramLog();
  for (let n = 1; n <= 1_500; n++) log.add([line(`${n}`)]);
  expect([sequences(log)[0], sequences(log).length]).toEqual([501, 1_000]);
  expect(log.newest(2).map(({ message }) => message)).toEqual(['1499', '1500']);
  expect(log.newest(0)).toEqual([]);
});

it('keeps no more text of a program than it may', () => {
  const log = new ProgramLog();
  const third = 'x'.repeat(limits.programLogCharsMax / 3 - 10);
  for (let n = 1; n <= 10; n++) log.add([line(third)]);
  expect(sequences(log)).toEqual([8, 9, 10]);
  log.add([line('x'.repeat(limits.programLogCharsMax + 1))]);
  expect(sequences(log)).toEqual([]);
  log.add([line('short')]);
  expect(sequences(log)).toEqual([12]);
});
