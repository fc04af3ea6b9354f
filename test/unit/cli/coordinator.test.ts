import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readCoordinatorSettings } from '../../../cli/serving/coordinator-settings.ts';
import { resolveConfig } from '../../../shared/config/config.ts';
import { cep } from './cep.ts';

const bucket = { CEP_CHECKPOINT_KEY_ID: 'AKIA', CEP_CHECKPOINT_SECRET: 'of the bucket' };
const peers = 'http://127.0.0.1:9101,http://127.0.0.1:9102,http://127.0.0.1:9103';
const group = ['--raft', '--raft-node-id', '1', '--raft-peers', peers, '--raft-data-dir', 'raft'];
const without = (flag: string): string[] => group.filter((part, at) => part !== flag && group[at - 1] !== flag);

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cep-coordinator-'));
});
afterAll(() => rm(folder, { recursive: true }));

describe('cep coordinator', () => {
  it.each([
    [3, ['--raft'], {}, '--raft needs --raft-node-id and --raft-peers and --raft-data-dir'],
    [1, group.slice(1), {}, '--raft-peers: stands there without --raft, and so this coordinator would be alone'],
    [3, [], { CEP_RAFT_NODE_ID: '1' }, 'CEP_RAFT_NODE_ID: stands there without --raft'],
    [3, without('--raft-node-id'), {}, '--raft needs --raft-node-id'],
    [3, without('--raft-peers'), {}, '--raft needs --raft-peers'],
    [3, without('--raft-data-dir'), {}, '--raft needs --raft-data-dir'],
    [3, [...without('--raft-peers')], { CEP_RAFT_PEERS: 'http://a:1,http://b:1' }, 'CEP_RAFT_PEERS: found 2 members, expected 3 or more'],
    [1, [...without('--raft-peers'), '--raft-peers', `${peers},http://127.0.0.1:9103`], {}, 'http://127.0.0.1:9103 stands there twice'],
    [1, [...without('--raft-peers'), '--raft-peers', 'a,b,c'], {}, "--raft-peers: found the URL 'a' of a member: it is none"],
    [1, [...without('--raft-peers'), '--raft-peers', 'http://a:65000,http://b:1,http://c:1'], {}, 'members talk 1000 above it'],
    [3, [...without('--raft-peers'), '--raft-peers', 'http://a:1,http://b:1,http://c:1'], {}, 'have no key to know each other by'],
    [3, [...group, '--bind', '0.0.0.0'], {}, 'the group reaches beyond this machine (0.0.0.0)'],
    [3, group, { CEP_RAFT_KEY: 'short' }, 'CEP_RAFT_KEY: found a key of 5 characters, expected at least 16'],
    [1, [...group, '--port', '0'], {}, '--port: found 0'],
    [1, ['--raft-node-id', 'x'], {}, '--raft-node-id'],
    [3, [...group, '--raft-tls-ca', 'ca.pem'], {}, '--raft-tls-ca needs --tls-cert and --tls-key'],
    [1, ['--heartbeat-timeout', '5'], {}, '--heartbeat-timeout: found 5 s, expected more than the 5 s between two heartbeats'],
    [1, ['--scaling-min-workers', '101'], {}, '--scaling-min-workers: found 101, expected at most the 100'],
    [1, ['--scaling-down-threshold', '5'], {}, '--scaling-down-threshold: found 5, expected less than the 5'],
    [1, ['--scaling-webhook-url', 'ftp://a'], {}, '--scaling-webhook-url: expected a URL with http or https'],
    [3, ['--scaling-webhook-secret', 'of the receiver'], {}, 'no such URL is given'],
    [1, ['--checkpoint-store', 'checkpoints'], {}, "--checkpoint-store: found 'checkpoints', expected a URL"],
    [1, ['--checkpoint-store', 'https://a/b'], {}, "--checkpoint-store: found 'https:', expected file: or s3:"],
    [1, ['--checkpoint-store', 'file://host/b'], {}, "--checkpoint-store: found a host 'host'"],
    [3, ['--checkpoint-store', 's3://bucket'], {}, 'needs CEP_CHECKPOINT_KEY_ID and CEP_CHECKPOINT_SECRET'],
    [1, ['--checkpoint-store', 's3://bucket/p?acl=x'], bucket, "--checkpoint-store: found the parameter 'acl'"],
    [1, ['--checkpoint-store', 's3://bucket/a b'], bucket, "--checkpoint-store: found the prefix 'a%20b'"],
    [1, ['--checkpoint-store', 's3://B/p'], bucket, "--checkpoint-store: found the bucket 'B'"],
    [1, ['--checkpoint-store', 's3://bucket?endpoint=minio'], bucket, "--checkpoint-store: found the endpoint 'minio'"],
    [1, ['--api-key', 'short'], {}, 'at least 8'],
    [1, ['--api-key', 'schlüsselbund'], {}, '--api-key: the key has blanks or characters that no key has'],
    [3, [], { CEP_API_KEY: 'a key with blanks' }, 'CEP_API_KEY: the key has blanks or characters that no key has'],
    [3, ['--tls-cert', 'cert.pem'], {}, ''],
    [1, ['--raft-data'], {}, ''],
  ] as const)('ends with %i when it is started with %j %j', async (exitCode, args, env, message) => {
    const result = await cep(['coordinator', ...args], { env });
    expect([result.exitCode, result.stdout]).toEqual([exitCode, '']);
    expect(result.stderr).toContain(message);
  });

  it('ends with 2 when a file is missing that it is given', async () => {
    expect((await cep(['coordinator', '--config', join(folder, 'absent.yaml')])).exitCode).toBe(2);
    const tls = ['--tls-cert', join(folder, 'cert.pem'), '--tls-key', join(folder, 'key.pem')];
    expect((await cep(['coordinator', ...group, ...tls, '--raft-tls-ca', join(folder, 'ca.pem')])).exitCode).toBe(2);
  });
});

describe('the settings of a coordinator', () => {
  const read = (environment: Record<string, string>) => readCoordinatorSettings(resolveConfig({ environment }));
  const inGroup = { CEP_RAFT: 'true', CEP_RAFT_NODE_ID: '2', CEP_RAFT_PEERS: peers, CEP_RAFT_DATA_DIR: 'raft' };

  it('name a folder or a bucket that all members share', async () => {
    const bucketIn = async (store: string) => (await read({ ...bucket, CEP_CHECKPOINT_STORE: store })).checkpoints;
    const login = { keyId: bucket.CEP_CHECKPOINT_KEY_ID, secret: bucket.CEP_CHECKPOINT_SECRET };
    expect(await bucketIn('file:///mnt/check%20points')).toEqual({ folder: '/mnt/check points' });
    const amazon = { url: 'https://s3.eu-central-1.amazonaws.com/fraud', prefix: 'a/b/', region: 'eu-central-1', ...login };
    expect(await bucketIn('s3://fraud/a/b/?region=eu-central-1')).toEqual({ bucket: amazon });
    const own = { url: 'http://minio:9000/fraud', prefix: '', region: 'us-east-1', ...login };
    expect(await bucketIn('s3://fraud?endpoint=http://minio:9000/')).toEqual({ bucket: own });
  });

  it('are those of one on its own, in memory, where none are given', async () => {
    expect(await read({})).toMatchObject({ bind: '127.0.0.1', port: 9100, dataDir: undefined, group: undefined, isGroupOpen: false });
  });

  it('name the members, and the key by which they know each other', async () => {
    const peerUrls = peers.split(',');
    const open = await read(inGroup);
    expect(open).toMatchObject({ dataDir: 'raft', isGroupOpen: true, group: { nodeId: 2, peerUrls, clusterId: 'cep' } });
    expect((await read({ ...inGroup, CEP_RAFT_KEY: 'k'.repeat(16) })).group?.key).toBe('k'.repeat(16));
    const made = await read({ ...inGroup, CEP_API_KEY: 'the-key-of-the-API' });
    expect([made.isGroupOpen, made.group?.key]).toEqual([false, expect.stringMatching(/^[0-9a-f]{64}$/)]);
  });

  it('name the host by which the others ask for this member, where only some are taken', async () => {
    const named = { ...inGroup, CEP_API_KEY: 'the-key-of-the-API', CEP_RAFT_PEERS: 'http://c1:9100,http://c2:9100,http://c3:9100' };
    const hostsOf = async (environment: Record<string, string>) => (await read(environment)).allowedHosts;
    expect(await hostsOf(named)).toEqual([]);
    expect(await hostsOf({ ...named, CEP_ALLOWED_HOSTS: 'cep.example' })).toEqual(['cep.example', 'c2']);
    expect(await hostsOf({ ...named, CEP_ALLOWED_HOSTS: 'cep.example', CEP_RAFT_NODE_ID: '4' })).toEqual(['cep.example']);
    const { CEP_API_KEY: _, ...open } = { ...named, CEP_RAFT_KEY: 'k'.repeat(16) };
    expect(await hostsOf(open)).toEqual(['c2']);
    expect(await hostsOf({ CEP_ALLOWED_HOSTS: 'cep.example' })).toEqual(['cep.example']);
  });

  it('hold the authority by which members talk over TLS', async () => {
    const path = new URL('../../integration/server/certificates/first-cert.pem', import.meta.url).pathname;
    const tls = { ...inGroup, CEP_TLS_CERT: 'a', CEP_TLS_KEY: 'b' };
    expect((await read({ ...tls, CEP_RAFT_TLS_CA: path })).group?.tlsCa).toBe(await readFile(path, 'utf8'));
    const other = join(folder, 'authority.pem');
    await writeFile(other, 'no certificate');
    await expect(read({ ...tls, CEP_RAFT_TLS_CA: other })).rejects.toThrow(`TLS authority '${other}' cannot be used: it is no PEM file`);
  });
});

describe('cep raft', () => {
  it.each([
    ['status', []],
    ['add', ['4', 'http://127.0.0.1:9104']],
    ['promote', ['4']],
    ['remove', ['4']],
    ['transfer', []],
  ])('%s ends with 4 when no coordinator answers', async (command, args) => {
    const { exitCode, stderr } = await cep(['raft', command, ...args, '--coordinator', 'http://127.0.0.1:1']);
    expect(exitCode).toBe(4);
    expect(stderr).toContain('no coordinator answers at http://127.0.0.1:1');
  });

  it('takes whole numbers only, and tells where to look when the URL is none', async () => {
    expect(await cep(['raft', 'promote', 'first'])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("ID: expected a whole number, at least 1, found 'first'"),
    });
    expect(await cep(['raft', 'status', '--coordinator', 'nowhere'])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('--coordinator'),
    });
  });
});
