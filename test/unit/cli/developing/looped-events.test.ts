import '../../../../cli/dev.ts'; // Reading it is no part of a test.
import { expect, it } from 'vitest';
import { LoopedEvents } from '../../../../cli/developing/looped-events.ts';
import { EventSchemas } from '../../../../shared/events/schema.ts';
import { WorkFolder } from '../work-folder.ts';

const work = new WorkFolder();
const open = new EventSchemas([]);

function timesOf(lines: string): readonly (number | undefined)[] {
  return lines.split('\n').map((line) => {
    const { timestamp } = JSON.parse(line);
    return timestamp === undefined ? undefined : Date.parse(timestamp);
  });
}

it('plays a file again later than all of it, and an hour more', async () => {
  const events = await LoopedEvents.read(
    work.write('events.evt', '@0 A { x: 1 }\n@5s A { x: 2 }\n@1m A { x: 3 }\n'),
    open,
    () => undefined,
  );
  expect([events.count, events.hasOwnTimes]).toEqual([3, false]);
  const startMs = 1_700_000_000_000;
  expect(timesOf(events.lines({ from: 0, to: 3, baseMs: startMs }))).toEqual([startMs, startMs + 5_000, startMs + 60_000]);
  expect(events.roundMs).toBe(3_600_000 + 60_000);
});

it('leaves times alone that events state themselves, and tells of lines that are none', async () => {
  const told: string[] = [];
  const text = '{"event_type":"A","timestamp":"2026-01-02T03:04:05Z","data":{}}\nnonsense\n';
  const events = await LoopedEvents.read(work.write('events.jsonl', text), open, (line) => told.push(line));
  expect([events.count, events.hasOwnTimes, told.length]).toEqual([1, true, 1]);
  expect(timesOf(events.lines({ from: 0, to: 1, baseMs: 0 }))).toEqual([Date.parse('2026-01-02T03:04:05Z')]);
});

it('tells of members that mean nothing', async () => {
  const told: string[] = [];
  const text = '{"event_type":"A","timestmap":1,"data":{}}\n'.repeat(2);
  await LoopedEvents.read(work.write('members.jsonl', text), open, (line) => told.push(line));
  expect(told).toEqual(['2 events with a member `timestmap` beside the fields, which is passed over (did you mean timestamp?)']);
});

it('wants a folder with programs', async () => {
  expect(await work.cep(['dev', './missing'])).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('cep init FOLDER') });
  work.write('one.vpl', '');
  expect(await work.cep(['dev', './one.vpl'])).toMatchObject({
    exitCode: 2,
    stderr: expect.stringMatching(/one\.vpl' is a file, expected the folder of the rules\n {2}hint: cep dev /),
  });
  expect(await work.cep(['dev', './missing', '--rate', 'x'])).toMatchObject({ exitCode: 2 });
});
