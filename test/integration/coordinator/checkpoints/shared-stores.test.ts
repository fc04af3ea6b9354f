import { createHash, createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { BucketStore } from '../../../../coordinator/checkpoints/bucket-store.ts';
import { type CheckpointStore, SharedFolderStore } from '../../../../coordinator/checkpoints/checkpoint-store.ts';
import { crc32c } from '../../../../shared/checksum/crc32c.ts';
import { OutboundDoor } from '../../../../shared/outbound/outbound-door.ts';
import { WebDoor } from '../../../../shared/outbound/web-door.ts';
import { NetworkPolicy } from '../../../../shared/security/network-policy.ts';
import { type BucketServer, bucketName, login, startBucketServer } from './bucket-server.ts';

const placementId = 'g1:logins:0';
const web = new WebDoor(new OutboundDoor(NetworkPolicy.everywhere), { connectMs: 5_000, silenceMs: 15_000 });
let folder: string;
let service: BucketServer;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cep-shared-'));
  await mkdir(join(folder, 'mount'));
  service = await startBucketServer(join(folder, 'bucket'));
});

afterAll(async () => {
  await web.close();
  await service.close();
  await rm(folder, { recursive: true, force: true });
});

const bucket = ({ url = service.url, name = bucketName, keyId = login } = {}): BucketStore =>
  new BucketStore({ url: `${url}/${name}`, prefix: 'production/', region: 'eu-central-1', keyId, secret: login }, web);
const stores: readonly [string, () => CheckpointStore][] = [
  ['a folder that is shared', () => new SharedFolderStore(join(folder, 'mount'))],
  ['a bucket', () => bucket()],
];
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const textOf = (bytes: Uint8Array | undefined): string | undefined => bytes && new TextDecoder().decode(bytes);

describe.each(stores)('%s', (_, storeOf) => {
  it('gives what one member has written to another, by its checksum or by its name', async () => {
    const large = new Uint8Array(3_000_000).fill(7);
    await storeOf().write({ placementId, epoch: 3, sequence: 1 }, large);
    const other = storeOf();
    expect(await other.read({ placementId, epoch: 3, sequence: 1 }, crc32c(large))).toHaveLength(large.length);
    expect(await other.read({ placementId, epoch: 3, sequence: 1 })).toHaveLength(large.length);
    expect(await other.read({ placementId, epoch: 3, sequence: 1 }, crc32c(bytesOf('other')))).toBeUndefined();
    expect(await other.read({ placementId, epoch: 3, sequence: 2 })).toBeUndefined();
    expect(await other.read({ placementId: 'g1:logins:1', epoch: 3, sequence: 1 })).toBeUndefined();
  });

  it('takes the same bytes from several at a time', async () => {
    const name = { placementId: 'g2:p:0', epoch: 1, sequence: 1 };
    await Promise.all(Array.from({ length: 8 }, () => storeOf().write(name, bytesOf('state'))));
    expect(textOf(await storeOf().read(name, crc32c(bytesOf('state'))))).toBe('state');
  });

  it('removes what came before a checkpoint, and what is garbage of a group or of all, and nothing else', async () => {
    const store = storeOf();
    const write = (id: string, epoch: number, sequence: number) =>
      store.write({ placementId: id, epoch, sequence }, bytesOf(`${sequence}`));
    for (const sequence of [1, 2, 10]) await write('g3:p:0', 5, sequence);
    await write('g3:q:0', 5, 1);
    await write('g33:p:0', 5, 1);
    await store.trim({ placementId: 'g3:p:0', epoch: 5, sequence: 2 });
    const left = async (id: string, sequence: number) => textOf(await store.read({ placementId: id, epoch: 5, sequence }));
    expect([await left('g3:p:0', 1), await left('g3:p:0', 2), await left('g3:p:0', 10), await left('g3:q:0', 1)]).toEqual([
      undefined,
      '2',
      '10',
      '1',
    ]);
    await store.sweep(({ sequence }) => sequence < 10, 'g3');
    expect([await left('g3:p:0', 10), await left('g3:q:0', 1), await left('g33:p:0', 1)]).toEqual(['10', undefined, '1']);
    await store.sweep(({ epoch, sequence }) => epoch === 5 && sequence === 10, 'g3');
    expect([await left('g3:p:0', 10), await left('g33:p:0', 1)]).toEqual([undefined, '1']);
    await store.sweep(({ folder }) => folder.startsWith('g33-'));
    expect(await left('g33:p:0', 1)).toBeUndefined();
  });
});

it('does not take a store that cannot be asked for one that has nothing', async () => {
  const name = { placementId, epoch: 9, sequence: 1 };
  const gone = new SharedFolderStore(join(folder, 'unmounted'));
  await expect(gone.read(name)).rejects.toMatchObject({ code: 'storage_unavailable', message: expect.stringContaining('unmounted') });
  await expect(gone.write(name, bytesOf('x'))).rejects.toMatchObject({ code: 'storage_unavailable' });
  expect(await readdir(folder)).not.toContain('unmounted');
  const refused = { code: 'storage_unavailable', message: expect.stringContaining('403 InvalidAccessKeyId') };
  await expect(bucket({ keyId: 'another' }).read(name, 1)).rejects.toMatchObject(refused);
  await expect(bucket({ keyId: 'another' }).write(name, bytesOf('x'))).rejects.toMatchObject(refused);
  const noBucket = { code: 'storage_unavailable', message: expect.stringContaining('404 NoSuchBucket') };
  await expect(bucket({ name: 'another' }).read(name, 1)).rejects.toMatchObject(noBucket);
  const silent = { code: 'storage_unavailable', message: expect.stringContaining('does not answer') };
  await expect(bucket({ url: 'http://127.0.0.1:9' }).read(name)).rejects.toMatchObject(silent);
});

it('asks a folder that hangs for two things at a time', async () => {
  await mkdir(join(folder, 'mount'), { recursive: true });
  let asked = 0;
  const hangs = (): Promise<never> => {
    asked++;
    return new Promise(() => undefined);
  };
  const store = new SharedFolderStore(join(folder, 'mount'), { files: { write: hangs, read: hangs, trim: hangs, sweep: hangs } });
  for (let sequence = 1; sequence <= 20; sequence++)
    void store.write({ placementId, epoch: 1, sequence }, bytesOf('x')).catch(() => undefined);
  await vi.waitFor(() => expect(asked).toBe(2));
  await readdir(folder);
  expect(asked).toBe(2);
});

it('does not give bytes that have changed, or that cannot be read, and says where they are', async () => {
  const damages: object[] = [];
  const store = new SharedFolderStore(join(folder, 'mount'), { onDamage: (damage) => damages.push(damage) });
  const name = { placementId: 'g4:p:0', epoch: 1, sequence: 1 };
  await store.write(name, bytesOf('state'));
  const [own] = (await readdir(join(folder, 'mount'))).filter((one) => one.startsWith('g4-'));
  const path = join(folder, 'mount', own as string);
  const [file = ''] = await readdir(path);
  await writeFile(join(path, file), 'stale');
  expect(await store.read(name, crc32c(bytesOf('state')))).toBeUndefined();
  expect(await store.read(name)).toBeUndefined();
  await rm(join(path, file));
  expect(await store.read(name, crc32c(bytesOf('state')))).toBeUndefined();
  await mkdir(join(path, file));
  expect(await store.read(name, crc32c(bytesOf('state')))).toBeUndefined();
  expect(damages).toEqual([
    { file: join(path, file), reason: 'its checksum does not fit' },
    { file: join(path, file), reason: 'its checksum does not fit' },
    { file: join(path, file), reason: 'it is a directory' },
  ]);
});

it('signs requests as Signature Version 4 is written down', async () => {
  const asked: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    asked.push(request);
    request.resume().on('end', () => response.end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await bucket({ url: `http://127.0.0.1:${port}` }).write({ placementId, epoch: 1, sequence: 2 }, bytesOf('state'));
  await bucket({ url: `http://127.0.0.1:${port}` }).sweep(() => true, 'g1');
  server.close();
  expect(asked.map(({ method }) => method)).toEqual(['PUT', 'GET']);
  for (const [at, body] of ['state', ''].entries()) {
    const request = asked[at] as IncomingMessage;
    expect(request.headers.authorization).toBe(signatureOf(request, body));
  }
});

/** The value of `Authorization`, step by step as Amazon describes it. */
function signatureOf({ method, url = '', headers }: IncomingMessage, body: string): string {
  const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
  const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();
  const [path = '', query = ''] = url.split('?');
  const [, names = ''] = /SignedHeaders=([^,]+)/.exec(headers.authorization ?? '') ?? [];
  expect(names.split(';')).toEqual(expect.arrayContaining(['host', 'x-amz-content-sha256', 'x-amz-date']));
  expect(headers['x-amz-content-sha256']).toBe(sha256(body));
  const signed = names.split(';').map((name) => `${name}:${headers[name]}\n`);
  const canonical = [method, path, query.split('&').sort().join('&'), signed.join(''), names, sha256(body)].join('\n');
  const time = headers['x-amz-date'] as string;
  const scope = `${time.slice(0, 8)}/eu-central-1/s3/aws4_request`;
  const key = scope.split('/').reduce<string | Buffer>((before, part) => hmac(before, part), `AWS4${login}`);
  const signature = hmac(key, `AWS4-HMAC-SHA256\n${time}\n${scope}\n${sha256(canonical)}`).toString('hex');
  return `AWS4-HMAC-SHA256 Credential=${login}/${scope}, SignedHeaders=${names}, Signature=${signature}`;
}
