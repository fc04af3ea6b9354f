import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type NatsConnection, nkeyAuthenticator, nkeys } from 'nats';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { OutboundDoor } from '../../../../shared/outbound/outbound-door.ts';
import { NetworkPolicy } from '../../../../shared/security/network-policy.ts';
import { openSink, settingsOf } from '../../../../worker/connectors/registry.ts';
import { CepProcess } from '../../cli/cep-process.ts';
import { hasBroker, RunningBroker } from './containers.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const environment = { console: () => undefined, door: new OutboundDoor(NetworkPolicy.everywhere) };
const message = { id: '1', topic: 'alerts', payload: '{"event_type":"A"}' };

/** A certificate for this machine, and the authority that has signed it. */
function certificates(folder: string): { readonly ca: string; readonly cert: string; readonly key: string } {
  const openssl = (...args: readonly string[]): unknown => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
  const fresh = ['-newkey', 'rsa:2048', '-nodes', '-days', '2'];
  openssl('req', '-x509', ...fresh, '-subj', '/CN=authority', '-keyout', 'ca.key', '-out', 'ca.pem');
  openssl('req', ...fresh.slice(0, 3), '-subj', '/CN=broker', '-keyout', 'key.pem', '-out', 'request.pem');
  writeFileSync(join(folder, 'names'), 'subjectAltName=IP:127.0.0.1,DNS:localhost\n');
  const signed = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2', '-extfile', 'names'];
  openssl('x509', '-req', '-in', 'request.pem', ...signed, '-out', 'cert.pem');
  const text = (name: string): string => readFileSync(join(folder, name), 'utf8');
  return { ca: text('ca.pem'), cert: text('cert.pem'), key: text('key.pem') };
}

async function sent(parameters: Readonly<Record<string, string | boolean>>): Promise<string> {
  const sink = openSink(settingsOf('Bus', 'nats', Object.entries(parameters)), environment);
  const outcome = await sink.send(message).then(
    () => 'taken',
    (error: Error) => error.message,
  );
  await sink.close();
  return outcome;
}

describe.skipIf(!(await hasBroker('nats')))('the login at a NATS server', () => {
  let broker: RunningBroker;
  afterAll(() => broker?.stop());

  it('may be a token, which stands in the url or by itself', async () => {
    const config = 'listen: 0.0.0.0:4222\nauthorization { token: "top-secret" }\n';
    const command = ['nats-server', '-c', '/tmp/nats.conf'];
    broker = await RunningBroker.start({ broker: 'nats', port: 4222, command, files: { '/tmp/nats.conf': config } });
    const servers = `127.0.0.1:${broker.port}`;
    expect(await sent({ servers, token: 'top-secret' })).toBe('taken');
    expect(await sent({ servers: `nats://top-secret@${servers}` })).toBe('taken');
    const refused = await sent({ servers, token: 'other-secret' });
    expect(refused).toMatch(/refuses the login/);
    expect(refused).not.toContain('secret');
    expect(await sent({ servers })).toMatch(/refuses the login/);
    expect(await sent({ servers, token: 'top-secret', tls: true })).toMatch(/speaks no TLS/);
  });
});

describe.skipIf(!(await hasBroker('nats')))('a NATS server with TLS and NKeys', () => {
  const folder = mkdtempSync(join(tmpdir(), 'cep-nats-'));
  const [user, other] = [nkeys.createUser(), nkeys.createUser()];
  const seed = Buffer.from(user.getSeed()).toString();
  let broker: RunningBroker;
  let auditor: NatsConnection;
  beforeAll(async () => {
    const { ca, cert, key } = certificates(folder);
    writeFileSync(join(folder, 'trusted.pem'), ca);
    const config = `listen: 0.0.0.0:4222
tls { cert_file: "/tmp/cert.pem", key_file: "/tmp/key.pem" }
authorization { users = [ { nkey: ${user.getPublicKey()} } ] }
`;
    const files = { '/tmp/nats.conf': config, '/tmp/cert.pem': cert, '/tmp/key.pem': key };
    broker = await RunningBroker.start({ broker: 'nats', port: 4222, command: ['nats-server', '-c', '/tmp/nats.conf'], files });
    const authenticator = nkeyAuthenticator(user.getSeed());
    auditor = await connect({ servers: `127.0.0.1:${broker.port}`, tls: { ca }, authenticator, reconnect: false });
  });
  afterAll(async () => {
    await auditor?.close();
    await broker?.stop();
    rmSync(folder, { recursive: true });
  });

  const delivering = async (connector: string): Promise<string> => {
    writeFileSync(join(folder, 'in.jsonl'), '{"event_type":"Reading","n":1}\n');
    const program = `
event Reading:
    n: int

connector In = file (path: "${folder}/in.jsonl", follow: false)
connector Bus = nats (${connector}, retries: 0)

stream Each = Reading.from(In)
    .emit(n)
    .to(Bus, topic: "alerts")
`;
    writeFileSync(join(folder, 'rules.vpl'), program);
    const run = new CepProcess(['run', '-f', join(folder, 'rules.vpl')], { env: { NODE_EXTRA_CA_CERTS: join(folder, 'trusted.pem') } });
    await run.until(({ stderr }) => /DLQ write|Source ended/.test(stderr));
    run.kill('SIGINT');
    return (await run.ended).stderr;
  };

  it('is sent messages where the machine trusts its authority, over TLS', async () => {
    const received = auditor.subscribe('alerts', { max: 1 });
    await auditor.flush();
    await delivering(`servers: "tls://127.0.0.1:${broker.port}", nkey: "${seed}"`);
    for await (const { data } of received) expect(JSON.parse(Buffer.from(data).toString())).toMatchObject({ data: { n: 1 } });
  });

  it('is sent nothing where the authority is not trusted, and the reason is said', async () => {
    expect(await sent({ servers: `tls://127.0.0.1:${broker.port}`, nkey: seed })).toMatch(/unable to verify|self.signed/);
  });

  it('refuses another key, which is not shown', async () => {
    const seedOfOther = Buffer.from(other.getSeed()).toString();
    const said = await delivering(`servers: "tls://127.0.0.1:${broker.port}", nkey: "${seedOfOther}"`);
    expect(said).toMatch(/refuses the login/);
    expect(said).not.toContain(seedOfOther);
  });
});
