import { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Level } from 'level';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CepError } from '../../../shared/errors/error.ts';
import type { PipelineCheckpoint, PipelineDefinition } from '../../../worker/runtime/pipelines/runtime-storage.ts';
import type { RuntimeReport } from '../../../worker/runtime/service.ts';
import { DurableStorage } from '../../../worker/runtime/storage/durable-storage.ts';
import { Inventory } from '../../../worker/runtime/storage/inventory.ts';
import { diskFiles, type LogFiles } from '../../../worker/runtime/storage/log-files.ts';
import type { StoredTenant } from '../../../worker/runtime/tenants/tenant-registry.ts';
import { FailingFiles } from './failing-files.ts';

const tenant = (id: string, name = id): StoredTenant => ({ id, name, createdAt: 1 }) as unknown as StoredTenant;

describe('DurableStorage', () => {
  let stateDir: string;
  let storage: DurableStorage;
  const open = (): Promise<DurableStorage> => DurableStorage.open({ stateDir, report: () => undefined });
  const failOnce = (): void =>
    void vi.spyOn(Inventory.prototype, 'change').mockRejectedValueOnce(new CepError('storage_unavailable', 'no file can be opened'));

  beforeEach(async () => {
    stateDir = mkdtempSync(join(tmpdir(), 'cep-storage-'));
    storage = await open();
    await storage.saveTenant(tenant('a'));
  });

  afterEach(async () => {
    vi.restoreAllMocks();
    await storage.close();
    rmSync(stateDir, { recursive: true });
  });

  const kept = async (): Promise<readonly string[]> => {
    vi.restoreAllMocks();
    await storage.close();
    storage = await open();
    return storage.tenants.map(({ name }) => name);
  };

  it('keeps a tenant of which something changes while the inventory cannot be written', async () => {
    failOnce();
    await storage.saveTenant({ ...tenant('a'), doneBefore: { eventsProcessed: 1, outputEventsEmitted: 1 } }).catch(() => undefined);
    expect(await kept()).toEqual(['a']);
    failOnce();
    await expect(storage.saveTenant(tenant('a', 'another'))).rejects.toMatchObject({ code: 'storage_unavailable' });
    expect(await kept()).toHaveLength(1);
  });

  it.each(['whole', 'damaged'])('changes nothing in a directory that another has open, with a store that is %s', async (how) => {
    mkdirSync(join(stateDir, 'backups/2026-01-31T10-00-00.000Z.unfinished'), { recursive: true });
    writeFileSync(join(stateDir, 'probe'), '');
    chmodSync(join(stateDir, 'inventory'), 0o644);
    if (how === 'damaged') writeFileSync(join(stateDir, 'store/CURRENT'), '');
    const before = readdirSync(stateDir, { recursive: true, encoding: 'utf8' }).filter((name) => !/LOG/.test(name));
    await expect(open()).rejects.toMatchObject({ code: 'io_error', message: expect.stringContaining('another process uses it') });
    const after = readdirSync(stateDir, { recursive: true, encoding: 'utf8' }).filter((name) => !/LOG/.test(name));
    expect(after.sort()).toEqual(before.sort());
    expect(statSync(join(stateDir, 'inventory')).mode & 0o777).toBe(0o644);
  });

  it('leaves nothing of a new tenant that could not be listed', async () => {
    failOnce();
    await expect(storage.saveTenant(tenant('b'))).rejects.toMatchObject({ code: 'storage_unavailable' });
    expect(await kept()).toEqual(['a']);
  });
});

describe('the event log of a DurableStorage', () => {
  const SEGMENT_BYTES = 1_000;
  let folder: string;
  let stateDir: string;
  let reports: RuntimeReport[];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'cep-storage-'));
    stateDir = join(folder, 'state');
    reports = [];
  });

  afterEach(() => {
    vi.restoreAllMocks();
    rmSync(folder, { recursive: true });
  });

  const definition = (id: string): PipelineDefinition => ({ id, tenantId: 't', name: id, version: 1, createdAt: 1 }) as PipelineDefinition;
  const checkpoint = (sequence: number): PipelineCheckpoint =>
    ({
      sequence,
      state: Uint8Array.of(sequence % 256),
      savedAt: 1,
      answers: [],
      deliveries: { sinks: [], letters: [] },
    }) as unknown as PipelineCheckpoint;
  const open = async (dir = stateDir, logFiles?: LogFiles): Promise<DurableStorage> =>
    DurableStorage.open({
      stateDir: dir,
      report: (each) => reports.push(each),
      segmentBytes: SEGMENT_BYTES,
      ...(logFiles && { logFiles }),
    });
  const segments = (dir = stateDir): string[] => readdirSync(join(dir, 'log'));

  /** A durable request of a third of a segment. */
  async function request(storage: DurableStorage, pipelineId: string): Promise<number> {
    const sequence = storage.nextSequence();
    const bytes = new Uint8Array(SEGMENT_BYTES / 3);
    await storage.append({ kind: 'request', pipelineId, sequence, format: 'event', time: 1, idempotency: null, outputs: false, bytes });
    return sequence;
  }

  /** Requests for several segments, with a checkpoint behind each. */
  async function busy(storage: DurableStorage, { requests = 15 } = {}): Promise<void> {
    for (let n = 0; n < requests; n++) await storage.savePipeline(definition('busy'), checkpoint(await request(storage, 'busy')));
  }

  async function started(logFiles?: LogFiles): Promise<DurableStorage> {
    const storage = await open(stateDir, logFiles);
    storage.takePipelines();
    for (const id of ['quiet', 'silent', 'busy']) await storage.savePipeline(definition(id), null);
    return storage;
  }

  async function isShort(storage: DurableStorage): Promise<void> {
    await vi.waitFor(() => {
      storage.maintain();
      expect(segments().length).toBeLessThanOrEqual(2);
    });
  }

  /** Each is in a segment of its own. */
  async function quietOnes(storage: DurableStorage): Promise<Readonly<Record<'quiet' | 'silent', number>>> {
    const last = { quiet: 0, silent: 0 };
    for (const id of ['quiet', 'silent'] as const) {
      last[id] = await request(storage, id);
      await storage.savePipeline(definition(id), checkpoint(last[id]));
      await busy(storage);
    }
    return last;
  }

  it('becomes short though nothing comes to some pipelines any more', async () => {
    const storage = await started();
    const last = await quietOnes(storage);
    expect(segments().length).toBeGreaterThan(2);
    await isShort(storage);
    for (const id of ['quiet', 'silent'] as const) expect(await storage.readState(id)).toMatchObject({ sequence: last[id] });
    await storage.close();
  });

  it('becomes short after a restart too, also where there are two checkpoints', async () => {
    const storage = await started();
    for (const _ of [1, 2]) await quietOnes(storage);
    expect(segments().length).toBeGreaterThan(2);
    await storage.close();
    const again = await open();
    again.takePipelines();
    await isShort(again);
    await again.close();
  });

  it('keeps what a pipeline has not worked through, and nothing else that stands behind it', async () => {
    const storage = await started();
    const unseen = await request(storage, 'quiet');
    await busy(storage);
    await isShort(storage);
    await storage.close();
    const again = await open();
    const left: number[] = [];
    for await (const { sequence } of again.records()) left.push(sequence);
    expect(left).toContain(unseen);
    expect(reports.filter(({ level }) => level !== 'info')).toEqual([]);
    again.takePipelines();
    await again.savePipeline(definition('quiet'), checkpoint(unseen));
    await busy(again);
    await isShort(again);
    await again.close();
  });

  it('keeps what says that a request is not to be done as long as the request', async () => {
    const storage = await started();
    const refused = await request(storage, 'quiet');
    await busy(storage, { requests: 6 });
    await storage.append({ kind: 'skip', pipelineId: 'quiet', sequence: refused, index: -1 });
    await busy(storage);
    await vi.waitFor(() => {
      storage.maintain();
      expect(segments().length).toBeLessThanOrEqual(3);
    });
    const kinds: string[] = [];
    for await (const record of storage.records()) if (record.sequence === refused) kinds.push(record.kind);
    expect(kinds).toEqual(['request', 'skip']);
    await storage.close();
  });

  it('holds a copy of the newest checkpoint, which goes with the pipeline', async () => {
    const storage = await started();
    const last = await quietOnes(storage);
    await isShort(storage);
    await storage.close();
    const { get } = Level.prototype;
    vi.spyOn(Level.prototype, 'get').mockImplementation(async function (this: Level, key: string, ...rest: unknown[]) {
      const value = (await Reflect.apply(get, this, [key, ...rest])) as Uint8Array | undefined;
      return (/^checkpoint\/quiet\/\d+$/.test(key) ? Buffer.from('turned bits') : value) as unknown as string;
    } as unknown as typeof get);
    const again = await open();
    expect(again.takePipelines().find((one) => one.definition.id === 'quiet')).toMatchObject({
      checkpoint: { sequence: last.quiet },
      loss: null,
    });
    await again.deletePipeline('quiet');
    await again.close();
    const third = await open();
    expect(third.takePipelines().map((one) => one.definition.id)).not.toContain('quiet');
    await third.close();
  });

  it('has everything that was acknowledged, wherever it was interrupted', async () => {
    const acknowledged = new Map<string, number[]>([
      ['quiet', []],
      ['failed', []],
      ['silent', []],
      ['busy', []],
    ]);
    const moments: { readonly dir: string; readonly acknowledged: ReadonlyMap<string, readonly number[]> }[] = [];
    const interrupt = (): void => {
      const dir = join(folder, `moment-${moments.length}`);
      cpSync(stateDir, dir, { recursive: true });
      rmSync(join(dir, 'store/LOCK'), { force: true });
      moments.push({ dir, acknowledged: new Map([...acknowledged].map(([id, sequences]) => [id, [...sequences]])) });
    };
    const files: LogFiles = {
      ...diskFiles,
      remove: async (path) => {
        interrupt();
        await diskFiles.remove(path);
        interrupt();
      },
    };
    const storage = await started(files);
    await storage.savePipeline(definition('failed'), null);
    const { batch } = Level.prototype;
    vi.spyOn(Level.prototype, 'batch').mockImplementation(async function (this: Level, ...given: unknown[]) {
      interrupt();
      await Reflect.apply(batch, this, given);
      interrupt();
    } as unknown as typeof batch);
    const take = async (id: string): Promise<number> => {
      const sequence = await request(storage, id);
      acknowledged.get(id)?.push(sequence);
      return sequence;
    };
    const save = async (id: string): Promise<void> => storage.savePipeline(definition(id), checkpoint(await take(id)));
    for (const id of ['quiet', 'failed', 'silent']) {
      await save(id);
      if (id === 'failed') await take('failed');
      for (let n = 0; n < 5; n++) await save('busy');
    }
    await vi.waitFor(() => {
      storage.maintain();
      expect(segments().length).toBeLessThanOrEqual(3);
    });
    vi.restoreAllMocks();
    await storage.close();
    expect(moments.length).toBeGreaterThan(30);
    for (const moment of moments) {
      const found = await open(moment.dir);
      const records = new Set<number>();
      for await (const { sequence } of found.records()) records.add(sequence);
      for (const {
        definition: { id },
        checkpoint: saved,
        loss,
      } of found.takePipelines()) {
        expect(loss).toBeNull();
        const behind = (moment.acknowledged.get(id) ?? []).filter((sequence) => sequence > (saved?.sequence ?? 0));
        expect(behind.filter((sequence) => !records.has(sequence))).toEqual([]);
      }
      await found.close();
    }
    expect(reports.filter(({ level, message }) => level !== 'info' && message !== 'Torn end of the event log cut')).toEqual([]);
  });
});

describe('a DurableStorage whose file system does not answer', () => {
  let stateDir: string;
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['performance'] });
    stateDir = mkdtempSync(join(tmpdir(), 'cep-storage-'));
  });
  afterEach(() => {
    vi.useRealTimers();
    rmSync(stateDir, { recursive: true });
  });

  it('says so, refuses what has not begun, and goes on when it does', async () => {
    const logFiles = new FailingFiles();
    const reports: RuntimeReport[] = [];
    const storage = await DurableStorage.open({ stateDir, report: (each) => reports.push(each), logFiles });
    const append = (sequence: number): Promise<void> =>
      storage.append({
        kind: 'request',
        pipelineId: 'p',
        sequence,
        format: 'event',
        time: 1,
        idempotency: null,
        outputs: false,
        bytes: new Uint8Array(1),
      });
    await append(1);
    let goOn = (): void => undefined;
    logFiles.hanging = new Promise((resolve) => {
      goOn = resolve;
    });
    const written = append(2);
    await new Promise(setImmediate);
    const waiting = append(3);
    waiting.catch(() => undefined);
    vi.advanceTimersByTime(9_999);
    storage.maintain();
    expect(storage.health.problem).toBeNull();
    vi.advanceTimersByTime(1);
    storage.maintain();
    await vi.waitFor(() => expect(storage.health.problem).toBe('its file system does not answer'));
    for (const refused of [waiting, append(4)]) await expect(refused).rejects.toMatchObject({ code: 'storage_unavailable' });
    goOn();
    await written;
    await vi.waitFor(() => {
      storage.maintain();
      expect(storage.health.problem).toBeNull();
    });
    await append(5);
    const kept: number[] = [];
    for await (const { sequence } of storage.records()) kept.push(sequence);
    expect(kept).toEqual([1, 2, 5]);
    expect(reports.map(({ message }) => message)).toContain('State directory takes changes again');
    await storage.close();
  });
});
