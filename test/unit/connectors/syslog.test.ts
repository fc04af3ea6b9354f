import { execFileSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { connect, type Socket } from 'node:net';
import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { dropsOf } from '../../../worker/connectors/syslog/kernel-drops.ts';
import { SyslogFrames } from '../../../worker/connectors/syslog/syslog-frames.ts';
import { syslogMessage } from '../../../worker/connectors/syslog/syslog-message.ts';
import { SYSLOG_BYTES_MAX, SyslogSource } from '../../../worker/connectors/syslog/syslog-source.ts';
import { syslogConnector } from '../../../worker/connectors/syslog.ts';
import { ReadingSource } from './reading-source.ts';

const now = Date.UTC(2024, 0, 1, 0, 30);
const read = (text: string): unknown => {
  const { bytes, problem } = syslogMessage(Buffer.from(text), now);
  return problem ?? JSON.parse(Buffer.from(bytes).toString());
};

describe('a message of syslog', () => {
  it('is read as RFC 5424 has it, with structured data, and escapes in it', () => {
    const text =
      '<165>1 2003-10-11T22:14:15.003Z mymachine.example.com evntslog 8710 ID47 [a@1 iut="3" s="q\\"b\\\\c\\]"][b@2] \uFEFFAn event: für alle';
    expect(read(text)).toEqual({
      timestamp: '2003-10-11T22:14:15.003Z',
      data: {
        facility: 'local4',
        level: 'notice',
        severity: 5,
        host: 'mymachine.example.com',
        app: 'evntslog',
        proc_id: '8710',
        msg_id: 'ID47',
        structured: { 'a@1': { iut: '3', s: 'q"b\\c]' }, 'b@2': {} },
        message: 'An event: für alle',
      },
    });
    expect(read('<0>1 - - - - - -')).toEqual({ data: { facility: 'kern', level: 'emerg', severity: 0, message: '' } });
    expect(read('<34>1 - h - - - - x')).toMatchObject({ data: { host: 'h', message: 'x' } });
  });

  it('is read as RFC 3164 has it, in the year that is nearest', () => {
    expect(read('<34>Oct 11 22:14:15 mymachine su[12]: failed for lonvick\n')).toEqual({
      timestamp: '2023-10-11T22:14:15.000Z',
      data: {
        facility: 'auth',
        level: 'crit',
        severity: 2,
        host: 'mymachine',
        app: 'su',
        proc_id: '12',
        message: 'failed for lonvick',
      },
    });
    expect(read('<13>Jan  1 00:29:59 h app: x')).toMatchObject({ timestamp: '2024-01-01T00:29:59.000Z' });
    expect(read('<13>Dec 31 23:59:59 h app: x')).toMatchObject({ timestamp: '2023-12-31T23:59:59.000Z' });
    expect(read('<13>Feb 30 00:00:00 h no tag here')).toEqual({
      data: { facility: 'user', level: 'notice', severity: 5, host: 'h', message: 'no tag here' },
    });
    expect(read('<13>whatever')).toEqual({ data: { facility: 'user', level: 'notice', severity: 5, message: 'whatever' } });
  });

  it.each([
    ['', /found no priority/],
    ['hello', /found no priority/],
    ['<192>1 - - - - - -', /found no priority/],
    ['<1>1 yesterday h a p m - x', /does not follow RFC 5424/],
    ['<1>1 - h a p m [a b="c" x', /does not follow RFC 5424/],
    ['<1>1 - h', /does not follow RFC 5424/],
  ])('that is %o is refused with a reason', (text, reason) => {
    expect(read(text)).toMatch(reason);
  });

  it('of whatever bytes is read or refused, quickly, and keeps no name of a prototype', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        const { problem, bytes: line } = syslogMessage(Buffer.concat([Buffer.from('<1>1 - h a p m [x y="'), bytes]), now);
        if (problem === undefined) JSON.parse(Buffer.from(line).toString());
      }),
    );
    expect(read('<1>1 - h a p m [__proto__ a="b"] x')).toMatchObject({ data: { message: 'x' } });
    expect(({} as Record<string, unknown>)['a']).toBeUndefined();
    expect(read(`<1>1 - h a p m ${'[a b="\\'.repeat(9_000)}`)).toMatch(/does not follow/);
  });
});

describe('messages on a connection', () => {
  const frames = (text: string, size: number, max = 20): string[] => {
    const reader = new SyslogFrames(max);
    const bytes = Buffer.from(text);
    const found: string[] = [];
    for (let at = 0; at < bytes.length; at += size) found.push(...reader.push(bytes.subarray(at, at + size)).map(String));
    return found;
  };

  it('are the same however they are cut, by lines and with octet counts, also mixed', () => {
    const text = '<1>line\n6 <2>a\nb<3>next\n\n5 <4>ü14 <5>no line end<6>tail\n';
    const expected = ['<1>line', '<2>a\nb', '<3>next', '<4>ü', '<5>no line end', '<6>tail'];
    for (const size of [1, 2, 3, 7, 1_000]) expect([size, frames(text, size)]).toEqual([size, expected]);
  });

  it('that are too long are left out, and those behind them are read', () => {
    const long = 'x'.repeat(50);
    for (const size of [1, 8, 1_000]) {
      expect(frames(`${long}\n<1>a\n`, size)).toEqual(['too_long', '<1>a']);
      expect(frames(`50 ${long}<1>a\n`, size)).toEqual(['too_long', '<1>a']);
    }
  });
});

describe('a syslog source', () => {
  let reading: ReadingSource | undefined;
  let sender: Socket | undefined;
  afterEach(async () => {
    sender?.destroy();
    await reading?.close();
  });
  const start = async (
    protocol: 'udp' | 'tcp',
    options: { readonly connectionsMax?: number } = {},
  ): Promise<{ readonly source: SyslogSource; readonly reading: ReadingSource }> => {
    const source = new SyslogSource({
      ...{ host: '127.0.0.1', port: 0, protocol, now: () => now, topicPart: 'Syslog', waitingMax: 100 },
      ...options,
    });
    reading = new ReadingSource(source);
    await reading.until(() => source.port > 0);
    return { source, reading };
  };

  it('hears datagrams', async () => {
    const { source, reading } = await start('udp');
    const socket = createSocket('udp4');
    for (const text of ['<13>one', 'garbage', Buffer.of(0x3c, 0xff)]) socket.send(text, source.port, '127.0.0.1');
    await reading.until(() => reading.messages.length === 3);
    socket.close();
    expect(reading.messages.filter(({ problem }) => problem !== undefined)).toHaveLength(2);
    expect(reading.texts[0]).toContain('"message":"one"');
  });

  it('drops datagrams of a flood once too many wait, and says how many in one message', async () => {
    const { source, reading } = await start('udp');
    let open = (): void => undefined;
    reading.gate = new Promise((resolve) => {
      open = resolve;
    });
    const socket = createSocket('udp4');
    const send = (n: number): Promise<void> => new Promise((resolve) => socket.send(`<13>${n}`, source.port, '127.0.0.1', () => resolve()));
    for (let n = 0; n < 350; n++) await send(n);
    await vi.waitFor(() => expect(source.dropped).toBeGreaterThan(100));
    open();
    await reading.until(() => reading.messages.some(({ problem }) => problem !== undefined));
    socket.close();
    const problems = reading.messages.flatMap(({ problem }) => (problem === undefined ? [] : [problem]));
    expect(problems).toEqual([`${source.dropped} messages came faster than they could be taken, and were dropped`]);
    expect(reading.messages.length - 1 + source.dropped).toBeLessThanOrEqual(350);
  });

  it.skipIf(process.platform !== 'linux')(
    'tells of datagrams that the system dropped while nobody took them',
    { timeout: 60_000 },
    async () => {
      const { source, reading } = await start('udp');
      // All the while nothing of this process runs, so its socket holds what it can, some hundred kilobytes.
      const flood = `const socket = require('node:dgram').createSocket('udp4');
      let left = 1500;
      const send = () => (left-- > 0 ? socket.send(Buffer.alloc(8000, '<13>x'), ${source.port}, '127.0.0.1', send) : socket.close());
      send();`;
      execFileSync(process.execPath, ['-e', flood]);
      await reading.until(() => reading.messages.some(({ problem }) => problem !== undefined));
      expect(source.dropped).toBeGreaterThan(500);
      expect(reading.messages.filter(({ problem }) => problem === undefined).length + source.dropped).toBe(1_500);
    },
  );

  it('finds what was dropped for a port among others, and nothing where the system has no such table', () => {
    const table = `   sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer drops
  245: 0100007F:158A 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 2891 2 00000000 17
  246: 0100007F:158B 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 2892 2 00000000 4
`;
    expect([dropsOf(table, 0x158a), dropsOf(table, 514), dropsOf('', 0x158a)]).toEqual([17, 0, 0]);
  });

  it('lets a connection wait while nothing is taken, and loses nothing of it', async () => {
    const { source, reading } = await start('tcp');
    let open = (): void => undefined;
    reading.gate = new Promise((resolve) => {
      open = resolve;
    });
    sender = connect(source.port, '127.0.0.1');
    const count = 500;
    sender.write(Array.from({ length: count }, (_, n) => `<13>n=${n} ${'x'.repeat(40_000)}\n`).join(''));
    await vi.waitFor(() => expect(sender?.writableLength).toBeGreaterThan(0));
    open();
    await reading.until(() => reading.messages.length === count);
    expect(reading.texts.map((text) => Number.parseInt(JSON.parse(text).data.message.slice(2), 10))).toEqual(
      Array.from({ length: count }, (_, n) => n),
    );
  });

  it.each([
    ['<13>one\n<13>last', '"message":"last"'],
    ['8 <13>one 9 <13>', ''],
  ])('takes what a sender says last without its end, and says when that is not all (%o)', async (text, last) => {
    const { source, reading } = await start('tcp');
    sender = connect(source.port, '127.0.0.1');
    sender.end(text);
    await reading.until(() => reading.messages.length === 2);
    expect(reading.texts[0]).toContain('"message":"one');
    expect(reading.texts[1]).toContain(last);
    expect(reading.messages[1]?.problem !== undefined).toBe(last === '');
  });

  it('goes on after a connection of garbage, and one that is reset', async () => {
    const { source, reading } = await start('tcp');
    sender = connect(source.port, '127.0.0.1');
    sender.write(Buffer.alloc(SYSLOG_BYTES_MAX * 3, 0x80));
    await reading.until(() => reading.messages.length === 1);
    sender.resetAndDestroy();
    sender = connect(source.port, '127.0.0.1');
    sender.write('<13>after\n');
    await reading.until(() => reading.messages.length === 2);
    expect(reading.messages[0]?.problem).toContain('more than 65536 bytes');
  });

  it('refuses connections beyond those that may be open, and says so once for many', async () => {
    const { source, reading } = await start('tcp', { connectionsMax: 1 });
    sender = connect(source.port, '127.0.0.1');
    sender.write('<13>first\n');
    await reading.until(() => reading.messages.length === 1);
    for (let n = 0; n < 3; n++) {
      const refused = connect(source.port, '127.0.0.1')
        .on('error', () => undefined)
        .resume();
      await new Promise((resolve) => refused.once('close', resolve));
    }
    sender.write('<13>second\n');
    await reading.until(() => reading.messages.length === 3);
    expect(reading.messages.map(({ problem }) => problem)).toEqual([
      undefined,
      expect.stringContaining('1 connection was refused, as 1 are open'),
      undefined,
    ]);
  });

  it('says when the port is not to be had', async () => {
    const { source } = await start('tcp');
    const second = new ReadingSource(
      new SyslogSource({ host: '127.0.0.1', port: source.port, protocol: 'tcp', now: () => now, topicPart: 'Syslog' }),
    );
    await second.until(() => second.problem !== undefined);
    expect(second.problem).toMatch(/cannot listen on 127\.0\.0\.1:\d+ \(tcp\): .*EADDRINUSE/);
    await second.close();
  });

  it('is refused to programs of tenants, and where it is told no address', () => {
    const settings = { name: 'Logs', parameters: new Map([['listen', 'nowhere']]) } as never;
    expect(() => syslogConnector.openSource?.(settings, {} as never)).toThrow(/programs of tenants open no ports/);
    expect(() => syslogConnector.openSource?.(settings, { mayListen: true } as never)).toThrow(
      /found listen 'nowhere', expected an address/,
    );
  });
});
