import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { seededRandom } from '../../../chaos/sim/event-queue.ts';
import { encodeHello, type PeerTls } from '../../../coordinator/raft/peers/handshake.ts';
import { type LinkOptions, PeerLink } from '../../../coordinator/raft/peers/peer-link.ts';
import { FrameReader, frameBytesMax, frameOf } from '../../../coordinator/raft/transport/frames.ts';
import { encodePacket } from '../../../coordinator/raft/transport/packet.ts';
import { crc32c } from '../../../shared/checksum/crc32c.ts';
import { OutboundDoor } from '../../../shared/outbound/outbound-door.ts';
import { NetworkPolicy } from '../../../shared/security/network-policy.ts';
import { Group, wait } from './group.ts';
import { freePorts, groupKey, peersOn } from './local-peers.ts';

let folder: string;
let group: Group;
const closes: (() => unknown)[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'cep-raft-'));
  group = new Group(folder, peersOn(await freePorts(3)));
});
afterEach(async () => {
  for (const close of closes.splice(0)) close();
  await group.stopAll();
  rmSync(folder, { recursive: true, force: true });
});

/** Resolves with the bytes that came until the other side closed. */
function said(socket: Socket): Promise<Buffer> {
  return new Promise((resolve) => {
    const pieces: Buffer[] = [];
    socket.on('data', (piece: Buffer) => pieces.push(piece));
    socket.on('close', () => resolve(Buffer.concat(pieces)));
  });
}

function dial(bytes: Uint8Array, localAddress = '127.0.0.1'): Socket {
  const socket = connect({ port: group.of(1).member.port, host: '127.0.0.1', localAddress });
  closes.push(() => socket.destroy());
  socket.on('error', () => undefined);
  socket.write(bytes);
  return socket;
}

/** What member 1 tells of connections that came to nothing. */
const refusals = (lines = group.of(1).lines): readonly { readonly reason: string; readonly connections: number }[] =>
  lines
    .filter(({ message }) => message === 'Raft connection refused or broken')
    .map(({ fields }) => fields as { reason: string; connections: number });

const reasons = (): string[] => refusals().map(({ reason }) => reason);

/** Of member 1, told or not. */
async function refused(): Promise<number> {
  const found = await group.of(1).metrics.render();
  return Number(/^cep_raft_connections_refused_total (\d+)$/m.exec(found)?.[1] ?? 0);
}

const refusedFor = (reason: string | RegExp): Promise<void> =>
  vi.waitFor(
    () =>
      expect(
        reasons().some((found) => found.search(reason) >= 0),
        reasons().join('\n'),
      ).toBe(true),
    wait,
  );

/** A link to member 1 as node 2 has it, and what becomes of it. */
function link(
  options: Partial<LinkOptions['secrets']> = {},
  to: { readonly port?: number; readonly host?: string; readonly door?: OutboundDoor; readonly tls?: PeerTls } = {},
) {
  const events: string[] = [];
  const made = new PeerLink({
    to: 1,
    host: to.host ?? '127.0.0.1',
    port: to.port ?? group.of(1).member.port,
    purpose: 'messages',
    secrets: { clusterId: 'cluster', self: { id: 2, incarnation: 22, formatMax: 1 }, key: groupKey, ...options },
    tls: () => to.tls,
    door: to.door ?? new OutboundDoor(NetworkPolicy.everywhere),
    random: Math.random,
    admits: () => Promise.resolve(true),
    opened: () => events.push('opened'),
    lost: (loss, reason) => events.push(`${loss}: ${reason}`),
    rejected: (verdict) => events.push(verdict),
  });
  closes.push(() => made.close());
  const has = (event: string | RegExp): Promise<void> =>
    vi.waitFor(
      () =>
        expect(
          events.some((found) => found.search(event) >= 0),
          events.join('\n'),
        ).toBe(true),
      wait,
    );
  return { link: made, events, has };
}

describe('a Raft listener', () => {
  it('takes nobody who shows no certificate, and none that goes on with the session of another connection', async () => {
    const pem = (name: string): string => readFileSync(new URL(`../server/certificates/first-${name}.pem`, import.meta.url), 'utf8');
    const own = { cert: pem('cert'), key: pem('key') };
    const { member } = await group.start(1, { tls: { ...own, ca: pem('cert') } });
    /** Gives the session that it is handed. */
    const come = async (options: object): Promise<Buffer | undefined> => {
      const place = { host: '127.0.0.1', port: member.port, rejectUnauthorized: false };
      const socket = connectTls({ ...place, ...options });
      socket.on('error', () => undefined);
      let session: Buffer | undefined;
      socket.on('session', (given: Buffer) => {
        session = given;
        socket.end();
      });
      expect(await said(socket)).toHaveLength(0);
      return session;
    };
    await come({});
    await refusedFor('TLS: it shows no certificate');
    // Of the versions, the one in which a session is handed over before the connection is judged.
    const session = await come({ ...own, maxVersion: 'TLSv1.2' });
    expect(session).toBeDefined();
    await come({ ...own, session, maxVersion: 'TLSv1.2' });
    await vi.waitFor(() => expect(reasons().filter((reason) => reason.startsWith('TLS: it shows no certificate'))).toHaveLength(2), wait);
  }, 60_000);

  it.each([
    ['another address', '127.0.0.2'],
    ['its own', '127.0.0.1'],
  ])(
    'takes a member at once while connections from %s hold as many places as there are before TLS, and none of them for long',
    async (_, from) => {
      const pem = (name: string): string => readFileSync(new URL(`../server/certificates/first-${name}.pem`, import.meta.url), 'utf8');
      const tls = { cert: pem('cert'), key: pem('key'), ca: pem('cert') };
      await group.start(1, { tls });
      let closed = 0;
      const silent = Array.from({ length: 80 }, () => said(dial(new Uint8Array(0), from)).then(() => closed++));
      await vi.waitFor(() => expect(closed).toBe(16), wait);
      await refusedFor('a new connection takes its place: of 64 none had shown yet that it knows the key');
      const peer = link({}, { tls });
      await peer.has('opened');
      expect(peer.events).toEqual(['opened']);
      await vi.waitFor(() => expect(closed).toBe(17), wait);
      await Promise.all(silent);
      expect(peer.link.isOpen).toBe(true);
      await vi.waitFor(async () => expect(await refused()).toBe(silent.length), wait);
    },
    60_000,
  );

  it('tells nothing to who sends garbage, nothing at all, or more than a greeting can be', async () => {
    const { member } = await group.start(1);
    expect(await said(dial(frameOf(Buffer.from('GET / HTTP/1.1'))))).toHaveLength(0);
    await refusedFor('its checksum does not fit');
    expect(await said(dial(Buffer.from('GET / HTTP/1.1\r\n\r\n')))).toHaveLength(0);
    await refusedFor(/^a packet of 1195725856 bytes comes, and none has more than 512$/);
    const cut = dial(frameOf(new Uint8Array(400)).subarray(0, 100));
    cut.end();
    expect(await said(cut)).toHaveLength(0);
    await refusedFor('it was closed before it had shown that it knows the key');
    expect(member.status().term).toBe(0);
  }, 60_000);

  it('takes nothing of a member that speaks a version of later, says so, and goes on with the others', async () => {
    await Promise.all([1, 2].map((id) => group.start(id, { timers: { tickMs: 50 } })));
    const hello = encodeHello({ clusterId: 'cluster', purpose: 'messages', from: 3, to: 1, incarnation: 33 });
    // Behind four bytes that say what it is, and before the sum over all of it.
    const later = hello.slice();
    later[4] = 2;
    new DataView(later.buffer).setUint32(later.length - 4, crc32c(later.subarray(0, -4)));
    expect(await said(dial(frameOf(later)))).toHaveLength(0);
    await refusedFor('it speaks version 2, and this member version 1');
    await group.propose(await group.leader(), 'a');
    await group.agreed(['a']);
  }, 60_000);

  it('is told apart by who has another key, and tells it so little that it learns nothing', async () => {
    await group.start(1);
    const stranger = link({ key: 'another key of 16 bytes' });
    await stranger.has('who listens there has another key than this member');
    expect(stranger.events).not.toContain('opened');
    stranger.link.close();
  }, 60_000);

  it('and who dials with another key both say so once, however often it comes back', async () => {
    await Promise.all([group.start(1), group.start(2, { key: 'another key of 16 bytes' })]);
    const said = (id: number): number =>
      group.of(id).lines.filter(({ fields }) => JSON.stringify(fields).includes('who listens there has another key than this member'))
        .length;
    await vi.waitFor(() => expect([said(1), said(2)]).toEqual([1, 1]), wait);
    // Several attempts later.
    await vi.waitFor(async () => expect(await refused()).toBeGreaterThan(4), wait);
    expect([said(1), said(2)]).toEqual([1, 1]);
    expect(reasons()).toEqual(['it was closed before it had shown that it knows the key']);
  }, 60_000);

  it('does not believe a proof that it did not ask for, nor a handshake that it heard before', async () => {
    await group.start(1);
    const heard: Buffer[] = [];
    const [port = 0] = await freePorts(1);
    const between = createServer((from) => {
      const to = connect(group.of(1).member.port, '127.0.0.1');
      closes.push(() => [from.destroy(), to.destroy()]);
      from.on('data', (piece: Buffer) => heard.push(piece));
      from.pipe(to).pipe(from);
    }).listen(port, '127.0.0.1');
    closes.push(() => between.close());
    const honest = link({}, { port });
    await honest.has('opened');
    const [hello = new Uint8Array(0), proof = new Uint8Array(0)] = new FrameReader().push(Buffer.concat(heard));
    const again = dial(frameOf(hello));
    again.once('data', () => again.write(frameOf(proof)));
    const answer = await said(again);
    // The challenge, and no verdict.
    expect(new FrameReader().push(answer)).toHaveLength(1);
    await refusedFor('it does not know the key of the group');
    expect(honest.link.isOpen).toBe(true);
  }, 60_000);

  it('lets in nobody of another cluster, nobody with its own id, and no id with the data of another', async () => {
    await group.start(1);
    await link({ clusterId: 'another' }).has('otherCluster');
    await link({ self: { id: 1, incarnation: 5, formatMax: 1 } }).has('notAMember');
    const second = link({ self: { id: 2, incarnation: 22, formatMax: 1 } });
    await second.has('opened');
    await link({ self: { id: 2, incarnation: 23, formatMax: 1 } }).has('identityLost');
    await link({ self: { id: 3, incarnation: 22, formatMax: 1 } }).has('identityLost');
    await refusedFor('node 3: it has other data than the member that had this id before');
    expect(second.link.isOpen).toBe(true);
  }, 60_000);

  it('ends a connection that brings what is no packet, one for another, one of another, or one that is too long', async () => {
    const { member } = await group.start(1);
    const packet = (from: number, to: number): Uint8Array =>
      encodePacket({ kind: 'message', message: { type: 'timeoutNow', from, to, term: 1_000 } });
    const cases: readonly (readonly [Uint8Array, string])[] = [
      [Buffer.from('no packet'), 'node 2: its checksum does not fit'],
      [packet(3, 1), 'node 2: node 2 sends a packet of node 3'],
      [packet(2, 3), 'node 2: node 2 sends a packet for node 3'],
      [new Uint8Array(frameBytesMax + 1), `node 2: a packet of ${frameBytesMax + 1} bytes comes`],
    ];
    for (const [bytes, reason] of cases) {
      const peer = link();
      await peer.has('opened');
      peer.link.send(bytes);
      await refusedFor(reason);
      await peer.has('closed');
      peer.link.close();
    }
    // Alone, it may ask the others for an election, which changes nothing.
    expect(member.status()).toMatchObject({ term: 0, leader: 0 });
  }, 60_000);

  it('is connected to anew when a connection is open and carries nothing any more', async () => {
    await group.start(1);
    const [port = 0] = await freePorts(1);
    let connections = 0;
    const between = createServer((from) => {
      const to = connect(group.of(1).member.port, '127.0.0.1');
      const isFirst = ++connections === 1;
      let pieces = 0;
      closes.push(() => [from.destroy(), to.destroy()]);
      from.pipe(to);
      // Challenge and verdict of the first, and then silence.
      to.on('data', (piece: Buffer) => {
        if (!isFirst || ++pieces <= 2) from.write(piece);
      });
    }).listen(port, '127.0.0.1');
    closes.push(() => between.close());
    const peer = link({}, { port });
    await peer.has('opened');
    await peer.has('closed: nothing was heard for 5 s');
    await vi.waitFor(() => expect(peer.events.filter((event) => event === 'opened')).toHaveLength(2), wait);
  }, 60_000);

  it('is not dialed without a pause by members that it lets in and that are cut off at once', async () => {
    await group.start(1);
    // Of one member, the newest connection counts: each ends that of the other.
    const [one, other] = [link(), link()];
    await Promise.all([one.has('opened'), other.has('opened')]);
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    const opened = [...one.events, ...other.events].filter((event) => event === 'opened').length;
    expect(opened).toBeGreaterThan(2);
    expect(opened).toBeLessThan(40);
  }, 60_000);

  it('is looked for under its name and at the address that it had, in turn, while it is away', async () => {
    await group.start(1);
    const hosts: string[] = [];
    const door = new OutboundDoor(NetworkPolicy.everywhere);
    const connectTo = door.connect.bind(door);
    vi.spyOn(door, 'connect').mockImplementation((place) => {
      hosts.push(place.host);
      return connectTo(place);
    });
    const peer = link({}, { host: 'localhost', door });
    await peer.has('opened');
    await group.stop(1);
    await vi.waitFor(() => expect(hosts.length).toBeGreaterThan(5), wait);
    const [first, ...others] = hosts.slice(0, 6).map((host) => (host === 'localhost' ? 'name' : 'address'));
    expect([first, others]).toEqual(['name', ['address', 'name', 'address', 'name', 'address']]);
  }, 60_000);

  it.each([
    ['another address', '127.0.0.2'],
    ['its own', '127.0.0.1'],
  ])(
    'takes a member at once while strangers from %s hold all 64 places, and is brief about them',
    async (_, from) => {
      await group.start(1);
      let closed = 0;
      const strangers = Array.from({ length: 80 }, () => dial(new Uint8Array(1), from));
      for (const stranger of strangers) stranger.on('close', () => closed++);
      await vi.waitFor(() => expect(closed).toBe(16), wait);
      await refusedFor('a new connection takes its place: of 64 none had shown yet that it knows the key');
      const peer = link();
      await peer.has('opened');
      expect(peer.events).toEqual(['opened']);
      await vi.waitFor(() => expect(closed).toBe(17), wait);
      for (const stranger of strangers) stranger.destroy();
      await vi.waitFor(async () => expect(await refused()).toBeGreaterThanOrEqual(strangers.length), wait);
      const { lines } = group.of(1);
      expect(refusals(lines).length).toBeLessThan(5);
      // At its end it tells of those that it has counted since.
      await group.stop(1);
      expect(refusals(lines).reduce((sum, { connections }) => sum + connections, 0)).toBeGreaterThanOrEqual(strangers.length);
    },
    60_000,
  );
});

/** Passes on to a port; of what the dialer says after its handshake every packet twice, after a while, and now and then in another order. */
async function stutter(port: number, random: (bound: number) => number): Promise<Server> {
  const server = createServer((from) => {
    const to = connect(port, '127.0.0.1');
    const reader = new FrameReader();
    let packets = 0;
    const both = [from, to] as const;
    for (const [one, other] of [both, [to, from] as const]) {
      one.on('error', () => undefined);
      one.on('close', () => other.destroy());
    }
    closes.push(() => both.map((socket) => socket.destroy()));
    to.pipe(from);
    from.on('data', (piece: Buffer) => {
      for (const packet of reader.push(piece)) {
        if (++packets <= 2) to.write(frameOf(packet));
        else for (const delayMs of [random(8), random(30)]) setTimeout(() => to.write(frameOf(packet)), delayMs);
      }
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  closes.push(() => server.close());
  return server;
}

it('members agree over connections that bring everything twice, late and out of order', async () => {
  const random = seededRandom(1);
  const proxied = await Promise.all(
    group.peers.map(async (peer) => {
      const address = (await stutter(peer.port, random)).address();
      return { ...peer, port: (address as { port: number }).port };
    }),
  );
  // With time to spare: a test machine may stand still for longer than a short election takes.
  await Promise.all([1, 2, 3].map((id) => group.start(id, { peers: proxied, timers: { tickMs: 50 } })));
  const leader = await group.leader();
  const commands = Array.from({ length: 200 }, (_, at) => `command ${at}`);
  for (let at = 0; at < commands.length; at += 20)
    await Promise.all(commands.slice(at, at + 20).map((command) => group.propose(leader, command)));
  await group.agreed(commands);
  expect(group.of(leader).member.status().term).toBeLessThan(3);
}, 60_000);
