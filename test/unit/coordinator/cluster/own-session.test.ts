import { describe, expect, it } from 'vitest';
import { OwnSession } from '../../../../coordinator/cluster/own-session.ts';
import { memberUrl, raftPeerOf } from '../../../../coordinator/cluster/raft-address.ts';
import { bounds } from '../../../../coordinator/state/bounds.ts';

describe('the session of a member', () => {
  it('acknowledges what is answered, up to the oldest that is not', () => {
    const session = new OwnSession();
    const [first, second] = [session.begin(), session.begin()];
    second.end();
    expect(session.begin().id).toMatchObject({ sequence: 3, lowestUnacknowledged: 1 });
    first.end();
    expect(session.begin().id).toMatchObject({ sequence: 4, lowestUnacknowledged: 3 });
  });

  it('begins anew when it is forgotten, once for all that meet it', () => {
    const session = new OwnSession();
    const { id } = session.begin();
    session.renew(id.session);
    const next = session.begin();
    session.renew(id.session);
    expect([next.id.sequence, next.id.session === id.session, session.begin().id.session]).toEqual([1, false, next.id.session]);
  });

  it('takes no more than the group keeps results of', () => {
    const session = new OwnSession();
    const open = Array.from({ length: bounds.sessionResultsMax }, () => session.begin());
    expect(() => session.begin()).toThrow(expect.objectContaining({ code: 'overloaded' }));
    open[0]?.end();
    expect(session.begin().id.lowestUnacknowledged).toBe(2);
  });
});

describe('the URL of a member', () => {
  it.each([
    ['http://a:9100', 'http://a:9100', { host: 'a', port: 10_100 }],
    ['https://10.0.0.1:9100/', 'https://10.0.0.1:9100', { host: '10.0.0.1', port: 10_100 }],
    ['http://[::1]:9100', 'http://[::1]:9100', { host: '::1', port: 10_100 }],
    ['https://a', 'https://a', { host: 'a', port: 1_443 }],
  ])('%s is taken, with its Raft port', (text, url, place) => {
    expect(memberUrl(text)).toBe(url);
    expect(raftPeerOf(3, url)).toEqual({ id: 3, url, ...place });
  });

  it.each(['a:9100', '', 'ftp://a:1', 'http://u:p@a:1', 'http://a:1/api', 'http://a:1?x', 'http://a:65000', 'http://a:0'])(
    '%j is refused',
    (text) => {
      expect(() => memberUrl(text)).toThrow(expect.objectContaining({ code: 'validation_error' }));
    },
  );
});
