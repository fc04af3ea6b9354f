import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { crc32c } from '../../../shared/checksum/crc32c.ts';
import type { LoggedRecord, LoggedRequest } from '../../../worker/runtime/pipelines/runtime-storage.ts';
import type { RuntimeReport } from '../../../worker/runtime/service.ts';
import { EventLog, type EventLogOptions } from '../../../worker/runtime/storage/event-log.ts';
import { diskFiles, type LogFiles } from '../../../worker/runtime/storage/log-files.ts';
import { frameOf } from '../../../worker/runtime/storage/log-frame.ts';
import { FailingFiles } from './failing-files.ts';

describe('crc32c', () => {
  it.each([
    ['123456789', 0xe3069283],
    ['', 0],
    ['a', 0xc1d04330],
    ['The quick brown fox jumps over the lazy dog', 0x22620404],
  ])('of %j is as published', (text, sum) => {
    expect(crc32c(Buffer.from(text))).toBe(sum);
  });

  it('goes on from what came before', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.uint8Array(), (a, b) => {
        expect(crc32c(b, crc32c(a))).toBe(crc32c(Buffer.concat([a, b])));
      }),
    );
  });
});

const request = (sequence: number, pipelineId = 'p', size = 10): LoggedRequest => ({
  kind: 'request',
  pipelineId,
  sequence,
  format: 'event',
  ...(sequence % 3 === 0 && { timeField: 'ts' }),
  time: sequence,
  idempotency: sequence % 2 === 0 ? { key: `k${sequence}`, digest: 'd' } : null,
  outputs: true,
  bytes: new Uint8Array(size).fill(sequence),
});

async function all(log: EventLog): Promise<LoggedRecord[]> {
  const records = [];
  for await (const record of log.records()) records.push(record);
  return records;
}

describe('the event log', () => {
  let folder: string;
  let reports: RuntimeReport[];
  const open = (options: Pick<EventLogOptions, 'files' | 'segmentBytes' | 'listed'> = {}): Promise<EventLog> =>
    EventLog.open({ folder, report: (report) => reports.push(report), ...options });

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'cep-log-'));
    reports = [];
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('gives back every kind of record, in order', async () => {
    const records: LoggedRecord[] = [
      request(1),
      { kind: 'tick', sequence: 2, time: 5, pipelineIds: ['p', 'q'] },
      { kind: 'skip', pipelineId: 'p', sequence: 1, index: 3 },
      request(4, 'ü', 0),
    ];
    const log = await open();
    await Promise.all(records.map((record) => log.append(record)));
    await log.close();
    const again = await open();
    expect(await all(again)).toEqual(records);
    expect(again.lastSequence).toBe(4);
    expect(reports).toEqual([]);
    await again.close();
  });

  it('keeps the partition that messages came from, and those that are waited for; what was written without still reads', async () => {
    const position = { cluster: 'c', offsets: { 1: '7' } };
    const came = (sequence: number, source: LoggedRequest['source']): LoggedRequest => ({ ...request(sequence), source });
    const records = [
      came(1, { id: 'K/a', position }),
      came(2, { id: 'K/a', position, partition: '1', awaited: ['0', '1'] }),
      came(3, { id: 'K/a', position: null, partition: undefined, awaited: undefined }),
    ];
    const frames = records.map(frameOf);
    expect(frames[0]?.toString()).toContain('"c":{"id":"K/a","position":{"cluster":"c","offsets":{"1":"7"}}}');
    expect(frames[2]?.toString()).toContain('"c":{"id":"K/a","position":null}');
    const log = await open();
    for (const record of records) await log.append(record);
    await log.close();
    const again = await open();
    const read = await all(again);
    expect(read).toEqual(records);
    expect(read.map(frameOf)).toEqual(frames);
    await again.close();
  });

  it('syncs many records at once, and none for ticks alone', async () => {
    const log = await open();
    await Promise.all(Array.from({ length: 100 }, (_, at) => log.append(request(at + 1))));
    expect(log.syncs).toBeLessThan(5);
    const { syncs } = log;
    await log.append({ kind: 'tick', sequence: 200, time: 1, pipelineIds: ['p'] });
    expect(log.syncs).toBe(syncs);
    await log.close();
  });

  it('begins new segments, and removes those of which nothing is needed, oldest first', async () => {
    const log = await open({ segmentBytes: 400 });
    for (let n = 1; n <= 12; n++) await log.append(request(n, n <= 6 ? 'old' : 'young', 100));
    const before = log.bytes;
    await log.retire((id) => id === 'young');
    expect(log.bytes).toBeLessThan(before);
    expect((await all(log)).map(({ sequence }) => sequence)).toEqual(expect.arrayContaining([7, 8, 9, 10, 11, 12]));
    await log.retire(() => false);
    const left = (await all(log)).map(({ sequence }) => sequence);
    expect(left.length).toBeLessThan(6);
    expect(left.at(-1)).toBe(12);
    await log.append(request(13));
    await log.close();
    expect((await all(await open())).at(-1)).toMatchObject({ sequence: 13 });
  });

  it('removes segments from the middle, and keeps one that says what of another was refused as long as that', async () => {
    const files = new FailingFiles();
    const log = await open({ segmentBytes: 200, files });
    await log.append(request(1, 'old', 50));
    files.canTruncate = false;
    files.failSyncs = 1;
    await expect(log.append(request(2, 'old', 50))).rejects.toMatchObject({ code: 'storage_unavailable' });
    for (let n = 3; n <= 12; n++) await log.append(request(n, 'young', 100));
    await log.retire((id) => id === 'old');
    await log.close();
    const again = await open();
    expect((await all(again)).map(({ sequence }) => sequence)).toEqual(expect.arrayContaining([1, 12]));
    expect((await all(again)).map(({ sequence }) => sequence)).not.toContain(2);
    expect(again.segments).toBe(3);
    await again.retire(() => false);
    expect(again.segments).toBe(1);
    await again.close();
  });

  it('removes nothing that is being read', async () => {
    const log = await open({ segmentBytes: 200 });
    for (let n = 1; n <= 6; n++) await log.append(request(n, 'old', 100));
    const read: number[] = [];
    for await (const { sequence } of log.records()) {
      if (read.length === 0) await log.retire(() => false);
      read.push(sequence);
    }
    expect(read).toEqual([1, 2, 3, 4, 5, 6]);
    await log.close();
  });

  it('lists no segment that is going while a new one is made, and the new one while another goes', async () => {
    const lists: string[][] = [];
    let removing = (): void => undefined;
    const removed = new Promise<void>((resolve) => {
      removing = resolve;
    });
    const files: LogFiles = {
      ...diskFiles,
      remove: async (path) => {
        if (path.endsWith('00000001.log') && lists.length > 1) await removed;
        await diskFiles.remove(path);
      },
    };
    const list = async (segments: object): Promise<void> => {
      lists.push(Object.keys(segments));
    };
    const log = await EventLog.open({ folder, report: (report) => reports.push(report), files, list, segmentBytes: 200 });
    await log.append(request(1, 'old', 100));
    await log.append(request(2, 'old', 100));
    await log.append(request(3, 'young', 100));
    const retired = log.retire((id) => id === 'young');
    await expect.poll(() => lists.at(-1)?.includes('1')).toBe(false);
    const before = lists.length;
    for (let n = 4; lists.length === before; n++) await log.append(request(n, 'young', 100));
    removing();
    await retired;
    await log.close();
    expect(lists.slice(before).flat()).not.toContain('1');
    const listed = Object.fromEntries((lists.at(-1) as string[]).map((number) => [number, null]));
    await (await EventLog.open({ folder, report: (report) => reports.push(report), listed })).close();
    expect(reports).toEqual([]);
  });

  it('refuses what a full disk does not take, keeps what it took, and goes on when there is room', async () => {
    const files = new FailingFiles();
    const log = await open({ files });
    await log.append(request(1));
    files.room = 30;
    const refused = [log.append(request(2)), log.append(request(3))];
    for (const one of refused)
      await expect(one).rejects.toMatchObject({
        code: 'storage_unavailable',
        message: expect.stringContaining('ENOSPC'),
        retryAfterSeconds: 5,
      });
    await expect(log.append(request(4))).rejects.toMatchObject({ code: 'storage_unavailable' });
    expect(reports).toContainEqual(expect.objectContaining({ level: 'error', message: 'Event log cannot be written' }));
    files.room = Number.POSITIVE_INFINITY;
    await log.append(request(5));
    await log.close();
    expect((await all(await open())).map(({ sequence }) => sequence)).toEqual([1, 5]);
  });

  it.each([true, false])('has nothing of what a failed sync refused (the file can be cut: %s)', async (canTruncate) => {
    const files = new FailingFiles();
    const log = await open({ files });
    await log.append(request(1));
    files.failSyncs = 1;
    files.canTruncate = canTruncate;
    await expect(log.append(request(2))).rejects.toMatchObject({ code: 'storage_unavailable' });
    await log.append(request(3));
    await log.close();
    const again = await open();
    expect((await all(again)).map(({ sequence }) => sequence)).toEqual([1, 3]);
    await again.close();
  });

  it('has a beginning of what was appended, whatever the length a crash left', async () => {
    const { readFileSync, writeFileSync } = await import('node:fs');
    const log = await open();
    for (let n = 1; n <= 5; n++) await log.append(request(n, 'p', 3 * n));
    await log.close();
    const path = join(folder, '00000001.log');
    const whole = readFileSync(path);
    for (let length = 0; length <= whole.length; length++) {
      writeFileSync(path, whole.subarray(0, length));
      const cut = await open();
      const sequences = (await all(cut)).map(({ sequence }) => sequence);
      expect(sequences).toEqual([1, 2, 3, 4, 5].slice(0, sequences.length));
      if (length === whole.length) expect(sequences).toHaveLength(5);
      await cut.close();
    }
  });

  it.each([0, 5])(
    'takes a file of which a crash left %d bytes of the beginning for none, at this start and at the next',
    async (length) => {
      const { readdirSync, writeFileSync } = await import('node:fs');
      const first = await open();
      await first.append(request(1));
      await first.close();
      writeFileSync(join(folder, '00000002.log'), 'CEPLOG1\n'.slice(0, length));
      const second = await open({ listed: first.lengths });
      const listed = second.lengths;
      await second.close();
      const third = await open({ listed });
      await third.append(request(2));
      expect((await all(third)).map(({ sequence }) => sequence)).toEqual([1, 2]);
      await third.close();
      expect([reports, third.gaps, readdirSync(folder)]).toEqual([[], [], ['00000001.log', '00000002.log']]);
    },
  );

  it('never gives a record that is not as it was, whichever bit turned', async () => {
    const { readFileSync, writeFileSync } = await import('node:fs');
    const log = await open();
    const records = [request(1), request(2), request(3)];
    for (const record of records) await log.append(record);
    await log.close();
    const path = join(folder, '00000001.log');
    const whole = readFileSync(path);
    for (let at = 8; at < whole.length; at += 3) {
      const turned = Buffer.from(whole);
      turned[at] = (turned[at] as number) ^ (1 << (at % 8));
      writeFileSync(path, turned);
      const damaged = await open();
      const found = await all(damaged);
      for (const record of found) expect(records).toContainEqual(record);
      expect(found.length).toBe(2);
      await damaged.close();
    }
  });
});
