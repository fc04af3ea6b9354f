import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { checkpointStore, folderName } from '../../../../coordinator/checkpoints/checkpoint-store.ts';
import { startCoordinator } from '../../../../coordinator/server/start-coordinator.ts';
import { crc32c } from '../../../../shared/checksum/crc32c.ts';
import { Telemetry } from '../../../../shared/telemetry/internal-events.ts';
import { silentLogger } from '../../../../shared/telemetry/logger.ts';
import { MetricRegistry } from '../../../../shared/telemetry/metric-registry.ts';

const name = { placementId: 'g1:logins:0', epoch: 1, sequence: 1 };
const bytes = new TextEncoder().encode('state');
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cep-unfinished-'));
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

const filesOf = (checkpoints: string): Promise<string[]> => readdir(join(checkpoints, folderName(name.placementId)));

it('a checkpoint that cannot be written leaves nothing beside those that are there', async () => {
  const store = checkpointStore(folder);
  await store.write({ ...name, sequence: 2 }, bytes);
  // Nothing takes the place of a directory.
  const taken = `1-1-${crc32c(bytes)}.checkpoint`;
  await mkdir(join(folder, folderName(name.placementId), taken));
  await expect(store.write(name, bytes)).rejects.toMatchObject({ code: 'storage_unavailable' });
  expect((await filesOf(folder)).sort()).toEqual([taken, `1-2-${crc32c(bytes)}.checkpoint`]);
});

it('a checkpoint leaves the log of the coordinator its room, beside others that are being written', async () => {
  const kept = 134_217_728;
  let free = kept + bytes.length - 1;
  const store = checkpointStore(folder, undefined, async () => free);
  await expect(store.write(name, bytes)).rejects.toMatchObject({
    code: 'storage_unavailable',
    message: 'the checkpoint cannot be kept: it would leave 127 MiB of the disk, and 128 are kept for the log',
  });
  expect(await filesOf(folder)).toEqual([]);
  free = kept + 2 * bytes.length - 1;
  const both = await Promise.allSettled([store.write(name, bytes), store.write({ ...name, sequence: 2 }, bytes)]);
  expect(both.map(({ status }) => status)).toContain('rejected');
  await store.write({ ...name, sequence: 3 }, bytes);
  expect(await filesOf(folder)).toContain(`1-3-${crc32c(bytes)}.checkpoint`);
});

it('what a coordinator was writing when it ended is gone once it has started, and checkpoints stay', async () => {
  const checkpoints = join(folder, 'checkpoints');
  await checkpointStore(checkpoints).write(name, bytes);
  const [whole] = await filesOf(checkpoints);
  await writeFile(join(checkpoints, folderName(name.placementId), '1-2-3.checkpoint.ab.part'), 'half of a checkp');
  const coordinator = await startCoordinator({
    ...{ bind: '127.0.0.1', port: 0, apiKey: undefined, rateLimit: 0, corsOrigins: [], dataDir: folder },
    validate: async () => ({ kind: 'valid' }) as never,
    telemetry: new Telemetry(silentLogger, new MetricRegistry()),
  });
  try {
    expect(await filesOf(checkpoints)).toEqual([whole]);
  } finally {
    await coordinator.close();
  }
});
