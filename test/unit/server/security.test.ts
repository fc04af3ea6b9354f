import { EventEmitter } from 'node:events';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { keyProtocolOf } from '../../../shared/http/key-protocol.ts';
import { isLoopback } from '../../../shared/http/listen.ts';
import { Origins } from '../../../shared/http/origins.ts';
import { addressGroup, presentedKey, selectProtocol, traceOf } from '../../../shared/http/request-identity.ts';
import { ProcessSignals, withDeadline } from '../../../shared/lifecycle/process-signals.ts';
import { Redactor } from '../../../shared/security/redaction.ts';
import { TokenBuckets } from '../../../shared/security/token-buckets.ts';

describe('a redactor', () => {
  it('hides a secret as it is, inside JSON and inside a URL', () => {
    const redactor = new Redactor();
    const secret = 'pass "word"/+&ü';
    redactor.add(secret);
    for (const form of [secret, JSON.stringify(secret), encodeURIComponent(secret)]) {
      expect(redactor.redact(`before ${form} after`)).toMatch(/^before "?\[REDACTED\]"? after$/);
    }
  });

  it('hides the longer of two secrets whole', () => {
    const redactor = new Redactor();
    redactor.add('secret-1');
    redactor.add('secret-1-and-more');
    expect(redactor.redact('x secret-1-and-more y secret-1 z')).toBe('x [REDACTED] y [REDACTED] z');
  });

  it('leaves texts alone that hold none, and words that are too short to be one', () => {
    const redactor = new Redactor();
    redactor.add('ab');
    const text = 'ab, the url http://host:80/path?x=1&key=k&signal=2&compass=3&author=4 and a@b.c';
    expect(redactor.redact(text)).toBe(text);
  });

  it.each([
    ['/ws?api_key=abc123&x=1', '/ws?api_key=[REDACTED]&x=1'],
    ['/hook?access_token=abc123&x=1', '/hook?access_token=[REDACTED]&x=1'],
    ['/a?clientSecret=abc&X-Amz-Signature=d1', '/a?clientSecret=[REDACTED]&X-Amz-Signature=[REDACTED]'],
    ['/a?subscription-key=abc&sig=d1 &pwd=x', '/a?subscription-key=[REDACTED]&sig=[REDACTED] &pwd=[REDACTED]'],
    ['authorization: Bearer abc.def', 'authorization: Bearer [REDACTED]'],
    ['cep.v1, cep-auth.abc-def', 'cep.v1, cep-auth.[REDACTED]'],
    ['cep.v1, cep-auth-base64url.YWIv_-', 'cep.v1, cep-auth-base64url.[REDACTED]'],
    ['redis://:pw@host redis://u:p%40w@host', 'redis://:[REDACTED]@host redis://u:[REDACTED]@host'],
  ])('knows the places where secrets stand: %s', (text, shown) => {
    expect(new Redactor().redact(text)).toBe(shown);
  });

  it('never lets a secret through, whatever surrounds it', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 6, maxLength: 20 }), fc.string(), fc.string(), (secret, before, after) => {
        fc.pre(!'[REDACTED]'.includes(secret) && secret.trim().length >= 6);
        const redactor = new Redactor();
        redactor.add(secret);
        expect(redactor.redact(before + secret + after).includes(secret) && !`${before}[REDACTED]${after}`.includes(secret)).toBe(false);
      }),
    );
  });

  it('shows nothing of the secrets it knows', () => {
    const redactor = new Redactor();
    redactor.add('very-secret');
    expect(inspect(redactor) + JSON.stringify(redactor)).not.toContain('very-secret');
  });
});

describe('token buckets', () => {
  const buckets = (clientsMax = 10) => {
    const clock = { ms: 0 };
    return { clock, buckets: new TokenBuckets({ ratePerSecond: 10, burst: 20, clientsMax, now: () => clock.ms }) };
  };

  it('give a burst, then as many as come back, and say how long to wait', () => {
    const { clock, buckets: of } = buckets();
    const taken = Array.from({ length: 21 }, () => of.take('a'));
    expect(taken).toEqual([...Array(20).fill(0), 0.1]);
    clock.ms = 250;
    expect([of.take('a'), of.take('a')]).toEqual([0, 0]);
    expect(of.take('a')).toBeCloseTo(0.05);
  });

  it('never hold more than a burst', () => {
    const { clock, buckets: of } = buckets();
    of.take('a');
    clock.ms = 1e9;
    expect(Array.from({ length: 21 }, () => of.take('a')).filter((wait) => wait === 0)).toHaveLength(20);
  });

  it('remember so many clients and no more, those that ask at last', () => {
    const { buckets: of } = buckets(10);
    for (let i = 0; i < 20; i++) of.take('busy');
    for (let i = 0; i < 1_000; i++) {
      of.take(`one of many ${i}`);
      expect(of.take('busy')).toBeGreaterThan(0);
    }
    expect(of.size).toBe(10);
  });
});

describe('the address that a limit counts for', () => {
  it.each([
    ['10.1.2.3', '10.1.2.3'],
    ['::ffff:10.1.2.3', '10.1.2.3'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0db8:0001:0002:ffff::1', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::', 'fe80:0:0:0::/64'],
  ])('of %s is %s', (address, group) => {
    expect(addressGroup(address)).toBe(group);
  });
});

describe('the key of a request', () => {
  const everywhere = { inQuery: true, inProtocol: true };

  it('comes from the header, the bearer, the query or the subprotocol, in this order', () => {
    const headers = { 'x-api-key': '1', authorization: 'Bearer 2', 'sec-websocket-protocol': 'cep.v1, cep-auth.4' };
    const { 'x-api-key': _one, ...withoutOne } = headers;
    const { authorization: _two, ...withoutTwo } = withoutOne;
    expect(presentedKey(headers, { api_key: '3' }, everywhere)).toBe('1');
    expect(presentedKey(withoutOne, { api_key: '3' }, everywhere)).toBe('2');
    expect(presentedKey(withoutTwo, { api_key: '3' }, everywhere)).toBe('3');
    expect(presentedKey(withoutTwo, {}, everywhere)).toBe('4');
    expect(presentedKey({}, {}, everywhere)).toBeUndefined();
  });

  it.each(['k', 'a-b.c_d', 'ab/cd==xyz9', 'a=', '"(,;)"', 'cep-auth.k', '~~~???>>>'])('%j can be given as a subprotocol', (key) => {
    const protocol = keyProtocolOf(key);
    expect(protocol).toMatch(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/);
    expect(presentedKey({ 'sec-websocket-protocol': `cep.v1, ${protocol}` }, {}, everywhere)).toBe(key);
  });

  it.each(['cep-auth.', 'cep-auth-base64url.', 'cep-auth-base64url.*', 'cep-auth-base64.aw'])(
    'is not in the subprotocol %j',
    (protocol) => {
      expect(presentedKey({ 'sec-websocket-protocol': protocol }, {}, everywhere)).toBeUndefined();
    },
  );

  it('is not looked for where it may not stand', () => {
    const places = { inQuery: false, inProtocol: false };
    expect(presentedKey({ 'sec-websocket-protocol': 'cep-auth.4' }, { api_key: '3' }, places)).toBeUndefined();
  });

  it.each([
    [['cep.v1', 'cep-auth.k'], 'cep.v1'],
    [['cep-auth.k'], 'cep-auth.k'],
    [['cep-auth-base64url.aw'], 'cep-auth-base64url.aw'],
    [['other'], false],
    [[], false],
  ])('of the protocols %o selects %o', (offered, selected) => {
    expect(selectProtocol(new Set(offered))).toBe(selected);
  });
});

describe('a traceparent', () => {
  const trace = '4bf92f3577b34da6a3ce929d0e0e4736';

  it.each([
    [`00-${trace}-00f067aa0ba902b7-01`, trace],
    [`cc-${trace}-00f067aa0ba902b7-01-what-comes-later`, trace],
    [`ff-${trace}-00f067aa0ba902b7-01`, undefined],
    [`00-${'0'.repeat(32)}-00f067aa0ba902b7-01`, undefined],
    [`00-${trace}-${'0'.repeat(16)}-01`, undefined],
    [`00-${trace.toUpperCase()}-00f067aa0ba902b7-01`, undefined],
    ['', undefined],
  ])('of %o belongs to trace %o', (traceparent, traceId) => {
    expect(traceOf({ traceparent })?.traceId).toBe(traceId);
  });
});

describe('origins', () => {
  it.each([
    [[], undefined, true],
    [[], 'http://here:9000', true],
    [[], 'https://other', false],
    [[], 'null', false],
    [['https://other/'], 'https://OTHER', true],
    [['*'], 'https://anything', true],
  ])('of which %o are named admit %o: %o', (named, origin, isAdmitted) => {
    const headers = { host: 'here:9000', ...(origin === undefined ? {} : { origin }) };
    expect(new Origins(named as string[]).admits(headers)).toBe(isAdmitted);
  });
});

describe('an address to listen on', () => {
  it.each([
    ['127.0.0.1', true],
    ['127.8.8.8', true],
    ['localhost', true],
    ['::1', true],
    ['0.0.0.0', false],
    ['::', false],
    ['10.0.0.1', false],
    ['127.0.0.1.example.com', false],
  ])('%s is of this machine only: %o', (bind, isLocal) => {
    expect(isLoopback(bind)).toBe(isLocal);
  });
});

describe('the signals of a process', () => {
  it('end it first gently, then at once; a hang-up only reloads', async () => {
    const source = new EventEmitter();
    let reloads = 0;
    const signals = new ProcessSignals(source, () => reloads++);
    source.emit('SIGHUP', 'SIGHUP');
    source.emit('SIGINT', 'SIGINT');
    source.emit('SIGTERM', 'SIGTERM');
    expect([await signals.ended, await signals.endedAgain, reloads]).toEqual(['SIGINT', 'SIGTERM', 1]);
    signals.close();
    expect(source.eventNames()).toEqual([]);
  });

  it('are waited for no longer than a deadline', async () => {
    expect(await withDeadline(Promise.resolve(5), 10_000)).toBe(5);
    expect(await withDeadline(new Promise(() => undefined), 1)).toBeUndefined();
    await expect(withDeadline(Promise.reject(new Error('no')), 10_000)).rejects.toThrow('no');
  });
});
