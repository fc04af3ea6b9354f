import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { afterEach, describe, expect, it } from 'vitest';
import { OutboundDoor } from '../../../shared/outbound/outbound-door.ts';
import { NetworkPolicy } from '../../../shared/security/network-policy.ts';
import type { ConnectorEnvironment, ConnectorSettings, DeliveryFailure, Sink } from '../../../worker/connectors/connector.ts';
import { mailText } from '../../../worker/connectors/smtp/mail-text.ts';
import { smtpConnector } from '../../../worker/connectors/smtp.ts';

interface Received {
  readonly to: readonly string[];
  readonly text: string;
}

const payload =
  '{"event_type":"Large","timestamp":"2024-01-01T00:00:00Z","id":"p-1-0","message":"too much","data":{"amount":7,"who":"Ann"}}';

describe('mail as a sink', () => {
  let server: SMTPServer | undefined;
  let sink: Sink | undefined;
  const received: Received[] = [];
  afterEach(async () => {
    await sink?.close();
    await new Promise<void>((resolve) => (server === undefined ? resolve() : server.close(() => resolve())));
    [server, sink] = [undefined, undefined];
    received.length = 0;
  });

  /** With the certificate for tests that the library brings, which nobody trusts. */
  async function listen(options: SMTPServerOptions = {}): Promise<number> {
    const created = new SMTPServer({
      authOptional: true,
      logger: false,
      onData: (stream, session, done) => {
        let text = '';
        stream.on('data', (chunk) => {
          text += chunk;
        });
        stream.on('end', () => {
          received.push({ to: session.envelope.rcptTo.map(({ address }) => address), text });
          done();
        });
      },
      ...options,
    });
    created.on('error', () => undefined); // Of connections that clients end: what matters is what the sink says.
    server = created;
    await new Promise<void>((resolve) => created.listen(0, '127.0.0.1', resolve));
    return (created.server.address() as AddressInfo).port;
  }

  const open = (parameters: object, environment: Partial<ConnectorEnvironment> = {}): Sink => {
    const given = { host: '127.0.0.1', from: 'cep@example.com', to: 'desk@example.com', tls: 'none', ...parameters };
    const settings = { name: 'Mail', parameters: new Map(Object.entries(given)) } as unknown as ConnectorSettings;
    const opened = smtpConnector.openSink?.(settings, {
      door: new OutboundDoor(NetworkPolicy.everywhere),
      console: () => undefined,
      ...environment,
    });
    if (opened === undefined) throw new Error('mail is a sink');
    sink = opened;
    return opened;
  };
  const send = (to: Sink, topic: string | null = null): Promise<unknown> =>
    to.send({ id: 'p-1-0', topic, payload }).then(
      () => 'taken',
      ({ code, isPermanent }: DeliveryFailure) => [code, isPermanent],
    );

  it('sends each event as a mail that says it, with the same Message-ID each time', async () => {
    const port = await listen();
    const to = open({ port, to: 'desk@example.com, night@example.com', subject: 'Large: {amount} of {who}' });
    expect([await send(to), await send(to), await send(to, 'boss@example.com')]).toEqual(['taken', 'taken', 'taken']);
    expect(received.map((mail) => mail.to)).toEqual([
      ['desk@example.com', 'night@example.com'],
      ['desk@example.com', 'night@example.com'],
      ['boss@example.com'],
    ]);
    for (const { text } of received) {
      expect(text).toContain('Subject: Large: 7 of Ann\r\n');
      expect(text).toContain('Message-ID: <p-1-0@cep>\r\n');
      expect(text).toMatch(/\r\n\r\ntoo much\r\n\r\namount: 7\r\nwho: Ann\r\n/);
    }
  });

  it('trusts no certificate that nobody vouches for, unless it is told to', async () => {
    const port = await listen();
    expect(await send(open({ port, tls: 'starttls' }))).toEqual([expect.any(String), false]);
    await sink?.close();
    expect(received).toEqual([]);
    expect(await send(open({ port, tls: 'starttls' }, { isSmtpUnverified: true }))).toBe('taken');
  });

  it('sends nothing in the clear where TLS is wanted and the server has none', async () => {
    const port = await listen({ disabledCommands: ['STARTTLS'] });
    expect(await send(open({ port, tls: 'starttls' }, { isSmtpUnverified: true }))).toEqual([expect.any(String), false]);
    expect(received).toEqual([]);
  });

  it('tries a refused login again, and a refused mail not', async () => {
    let isGood = false;
    const port = await listen({
      onAuth: (_auth, _session, done) => (isGood ? done(null, { user: 'cep' }) : done(new Error('expired'))),
      onRcptTo: ({ address }, _session, done) => {
        if (address.startsWith('no')) done(Object.assign(new Error('no such mailbox'), { responseCode: 550 }));
        else done();
      },
    });
    const login = { port, tls: 'starttls', username: 'cep', password: 'secret' };
    const to = open(login, { isSmtpUnverified: true });
    expect(await send(to)).toEqual(['smtp_535', false]);
    isGood = true;
    expect(await send(to)).toBe('taken');
    expect(await send(to, 'nobody@example.com')).toEqual(['smtp_550', true]);
  });

  describe('where the server refuses some of the recipients', () => {
    const answers = new Map<string, number>();
    const listenFor = (): Promise<number> =>
      listen({
        onRcptTo: ({ address }, _session, done) => {
          const responseCode = answers.get(address);
          if (responseCode === undefined) done();
          else done(Object.assign(new Error('not this one'), { responseCode }));
        },
      });
    const to = 'good@example.com, Ann <bad@example.com>, full@example.com';

    it('fails for good when it refuses them for good, and names them', async () => {
      answers.clear();
      answers.set('bad@example.com', 550);
      const failure = await open({ port: await listenFor(), to })
        .send({ id: 'p-1-0', topic: null, payload })
        .catch((error: DeliveryFailure) => error);
      expect(failure).toMatchObject({ code: 'smtp_550', isPermanent: true });
      expect(String(failure)).toContain('bad@example.com');
      expect(String(failure)).not.toContain('good@example.com');
      expect(received.map((mail) => mail.to)).toEqual([['good@example.com', 'full@example.com']]);
    });

    it('sends again to those alone that it has not accepted, the same mail', async () => {
      answers.clear();
      answers.set('bad@example.com', 550).set('full@example.com', 452);
      const opened = open({ port: await listenFor(), to });
      expect(await send(opened)).toEqual(['smtp_452', false]);
      answers.clear();
      expect(await send(opened)).toBe('taken');
      expect(received.map((mail) => mail.to)).toEqual([['good@example.com'], ['bad@example.com', 'full@example.com']]);
      const headers = received.map(({ text }) => /^To:.*(?:\r\n .*)*$/m.exec(text)?.[0].replaceAll(/\s+/g, ' '));
      expect(headers).toEqual(Array(2).fill('To: good@example.com, Ann <bad@example.com>, full@example.com'));
    });

    it('sends a dead letter again to those alone that have not got it, whatever was sent meanwhile', async () => {
      answers.clear();
      answers.set('bad@example.com', 550);
      const opened = open({ port: await listenFor(), to });
      expect(await send(opened)).toEqual(['smtp_550', true]);
      await expect(opened.send({ id: 'p-1-1', topic: null, payload })).rejects.toThrow('bad@example.com');
      answers.clear();
      await opened.send({ id: 'p-1-2', topic: null, payload });
      received.length = 0;
      expect(await send(opened)).toBe('taken');
      await opened.send({ id: 'p-1-1', topic: null, payload });
      expect(received.map((mail) => mail.to)).toEqual([['bad@example.com'], ['bad@example.com']]);
    });

    it('begins with all of them again for another event', async () => {
      answers.clear();
      answers.set('full@example.com', 452);
      const opened = open({ port: await listenFor(), to });
      expect(await send(opened)).toEqual(['smtp_452', false]);
      answers.clear();
      await opened.send({ id: 'p-1-1', topic: null, payload });
      expect(received.map((mail) => mail.to.length)).toEqual([2, 3]);
    });
  });

  it.each(['ann@example.com, victim@example.com', 'team: victim@example.com;', 'ann@example.com\r\nBcc: victim@example.com', 'ann', ''])(
    'sends nothing where a field names %j, which is not one mailbox',
    async (topic) => {
      expect(await send(open({ port: await listen() }), topic)).toEqual(['bad_topic', true]);
      expect(received).toEqual([]);
    },
  );

  it('sends to the one mailbox that a field names, and lets it say whose that is', async () => {
    expect(await send(open({ port: await listen() }), 'Victim, Ann <ann@example.com>')).toBe('taken');
    expect(received.map((mail) => mail.to)).toEqual([['ann@example.com']]);
    expect(received[0]?.text).toContain('To: "Victim, Ann" <ann@example.com>\r\n');
  });

  it('sends to the topic of the connector where it has no other recipient', async () => {
    expect(await send(open({ port: await listen(), to: undefined, topic: 'desk@example.com' }))).toBe('taken');
    expect(received.map((mail) => mail.to)).toEqual([['desk@example.com']]);
  });

  it('refuses a program that sends to several recipients in one text', () => {
    const settings = { name: 'Mail', parameters: new Map() } as unknown as ConnectorSettings;
    const environment = { door: new OutboundDoor(NetworkPolicy.everywhere), console: () => undefined };
    const judge = (topic: string) => (): void => smtpConnector.requireTopic?.(settings, topic, environment);
    expect(judge('ann@example.com')).not.toThrow();
    expect(judge('ann@example.com, bob@example.com')).toThrow(
      "found 'ann@example.com, bob@example.com' at `.to`, expected one address of mail",
    );
  });

  it('says that nobody is there', async () => {
    const port = await listen();
    await new Promise<void>((resolve) => server?.close(() => resolve()));
    server = undefined;
    expect(await send(open({ port }))).toEqual(['econnrefused', false]);
  });

  it.each([
    [{ from: 'nobody' }, /from: found 'nobody', expected an address of mail/],
    [{ from: 'a@b\r\nBcc: c@d' }, /expected an address of mail/],
    [{ to: 'x' }, /to: found 'x'/],
    [{ username: 'u' }, /needs both a user and a password/],
    [{ username: 'u', password: 'p' }, /a password would go without TLS/],
  ])('is refused with %o', (parameters, message) => {
    expect(() => open(parameters)).toThrow(message);
  });

  it('is refused where it may not be reached', () => {
    const door = new OutboundDoor(NetworkPolicy.publicAnd([]));
    expect(() => open({ host: '127.0.0.1' }, { door })).toThrow(/tenant|public|reach/);
  });
});

describe('the text of a mail', () => {
  it('keeps the subject one line, whatever a field holds', () => {
    const event = JSON.stringify({ event_type: 'A', id: '1', who: 'Ann\r\nBcc: all@example.com\u2028x', nested: { a: [1] } });
    expect(mailText({ payload: event }, '{who} {nested} {absent}')).toEqual({
      subject: 'Ann Bcc: all@example.com x {"a":[1]} {absent}',
      text: 'who: Ann\r\nBcc: all@example.com\u2028x\nnested: {"a":[1]}\n\nA, null\nid: 1\n',
    });
  });
});
