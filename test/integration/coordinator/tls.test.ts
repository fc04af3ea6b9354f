import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { freePortPairs } from '../../contract/coordinator.ts';
import { CepProcess } from '../cli/cep-process.ts';

const certificates = new URL('../server/certificates/', import.meta.url).pathname;
const first = join(certificates, 'first-cert.pem');
const env = { CEP_API_KEY: 'the-key-of-the-cluster', CEP_LOGGING_FORMAT: 'json' };
const running: CepProcess[] = [];
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cep-tls-'));
  use('first');
});
afterEach(() => {
  for (const cep of running.splice(0)) cep.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

function use(name: string): void {
  for (const part of ['cert', 'key']) copyFileSync(join(certificates, `${name}-${part}.pem`), join(folder, `${part}.pem`));
}

const pairIn = (place: string, prefix = '') => [
  '--tls-cert',
  join(place, `${prefix}cert.pem`),
  '--tls-key',
  join(place, `${prefix}key.pem`),
];

function start(command: string, port: number, ...args: readonly string[]): CepProcess {
  const tls = args.includes('--tls-cert') ? [] : pairIn(folder);
  const cep = new CepProcess([command, '--port', String(port), ...tls, ...args], { env });
  running.push(cep);
  return cep;
}

function serialAt(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false }, () => {
      resolve(socket.getPeerCertificate().serialNumber);
      socket.destroy();
    });
    socket.on('error', reject);
  });
}

describe('a cluster over TLS', () => {
  it('takes a worker, and gives it pipelines, when both name the authority of their certificates', async () => {
    const [at, workerAt] = (await freePortPairs(2)) as [number, number];
    const url = `https://127.0.0.1:${at}`;
    const coordinator = start('coordinator', at, '--tls-ca', first);
    await coordinator.until(({ stderr }) => stderr.includes('Coordinator listening'));
    const worker = start('server', workerAt, '--coordinator', url, '--worker-id', 'w1', '--tls-ca', first);
    await worker.until(({ stderr }) => stderr.includes('"Worker registered"'));
    const file = join(folder, 'group.json');
    writeFileSync(file, JSON.stringify({ name: 'g', pipelines: [{ name: 'p', source: 'stream A = B.emit(x: x)' }] }));
    const deployed = new CepProcess(['groups', 'deploy', file, '--coordinator', url, '--tls-ca', first], { env });
    expect(await deployed.ended).toMatchObject({ code: 0, stdout: expect.stringContaining('running') });
  }, 60_000);

  it('takes workers whose certificates are of another authority than those of its members', async () => {
    const [workerAt, ...ports] = (await freePortPairs(4)) as [number, ...number[]];
    const urls = ports.map((port) => `https://127.0.0.1:${port}`);
    const second = join(certificates, 'second-cert.pem');
    for (const [index, port] of ports.entries()) {
      const raft = [
        '--raft',
        '--raft-node-id',
        String(index + 1),
        '--raft-peers',
        urls.join(),
        '--raft-data-dir',
        join(folder, `raft-${index}`),
      ];
      start('coordinator', port, ...raft, '--raft-tls-ca', first, '--tls-ca', second);
    }
    const own = pairIn(certificates, 'second-');
    const worker = start('server', workerAt, '--coordinator', urls.join(), '--worker-id', 'w1', '--tls-ca', first, ...own);
    await worker.until(({ stderr }) => stderr.includes('"Worker registered"'));
    const file = join(folder, 'group.json');
    // One of any two members hands it on to the leader.
    const deploy = async (url: string, name: string) => {
      writeFileSync(file, JSON.stringify({ name, pipelines: [{ name: 'p', source: 'stream A = B.emit(x: x)' }] }));
      return await new CepProcess(['groups', 'deploy', file, '--coordinator', url, '--tls-ca', first], { env }).ended;
    };
    for (const [index, url] of urls.slice(1).entries()) {
      expect(await deploy(url, `g${index}`)).toMatchObject({ code: 0, stdout: expect.stringContaining('running') });
    }
  }, 90_000);

  it('has a worker say which setting is missing when it cannot trust its coordinator', async () => {
    const [at, workerAt] = (await freePortPairs(2)) as [number, number];
    const coordinator = start('coordinator', at);
    await coordinator.until(({ stderr }) => stderr.includes('Coordinator listening'));
    const worker = start('server', workerAt, '--coordinator', `https://127.0.0.1:${at}`);
    await worker.until(({ stderr }) => /name the PEM file of its authority with --tls-ca.*Worker not registered/.test(stderr));
  }, 60_000);

  it('has a coordinator read its certificate again on SIGHUP, for its API and for Raft', async () => {
    const [at, second, third] = (await freePortPairs(3)) as [number, number, number];
    const peers = [at, second, third].map((port) => `https://127.0.0.1:${port}`).join();
    const raft = ['--raft', '--raft-node-id', '1', '--raft-peers', peers, '--raft-data-dir', join(folder, 'raft'), '--raft-tls-ca', first];
    const coordinator = start('coordinator', at, ...raft);
    await coordinator.until(({ stderr }) => stderr.includes('Coordinator listening'));
    const before = await serialAt(at);
    expect(await serialAt(at + 1_000)).toBe(before);
    use('second');
    coordinator.kill('SIGHUP');
    await coordinator.until(({ stderr }) => stderr.includes('"Certificates reloaded"'));
    expect(await serialAt(at)).not.toBe(before);
    await expect.poll(() => serialAt(at + 1_000)).not.toBe(before);
  }, 60_000);
});
