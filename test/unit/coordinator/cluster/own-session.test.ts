import { describe, expect, it } from 'vitest';
import { type OpenRequest, OwnSession } from '../../../../coordinator/cluster/own-session.ts';
import { memberUrl, raftPeerOf } from '../../../../coordinator/cluster/raft-address.ts';
import { bounds } from '../../../../coordinator/state/bounds.ts';
import { emptyState } from '../../../../coordinator/state/cluster-state.ts';
import type { Place } from '../../../../coordinator/state/commands/outcome.ts';
import { remembered, withResult } from '../../../../coordinator/state/sessions.ts';

/** One whose first request was done. */
function establishedSession(): OwnSession {
  const session = new OwnSession();
  const first = session.begin();
  first.established();
  first.end();
  return session;
}

describe('the session of a member', () => {
  it('gives each request a session to itself until one of them is done', () => {
    const session = new OwnSession();
    const [refused, first, second] = [session.begin(), session.begin(), session.begin()];
    refused.end();
    expect([refused, first, second].map(({ id }) => id.sequence)).toEqual([1, 1, 1]);
    expect(new Set([refused, first, second].map(({ id }) => id.session)).size).toBe(3);
    second.established();
    first.established();
    expect(session.begin().id).toMatchObject({ session: second.id.session, sequence: 2, lowestUnacknowledged: 2 });
  });

  it('acknowledges what is answered, up to the oldest that is not', () => {
    const session = establishedSession();
    const [first, second] = [session.begin(), session.begin()];
    second.end();
    expect(session.begin().id).toMatchObject({ sequence: 4, lowestUnacknowledged: 2 });
    first.end();
    expect(session.begin().id).toMatchObject({ sequence: 5, lowestUnacknowledged: 4 });
  });

  it('begins anew when it is forgotten, once for all that meet it', () => {
    const session = establishedSession();
    const { id } = session.begin();
    session.renew(id.session);
    const next = session.begin();
    next.established();
    session.renew(id.session);
    expect([next.id.sequence, next.id.session === id.session, session.begin().id.session]).toEqual([1, false, next.id.session]);
  });

  it('takes no more than the group keeps results of, alone or together', () => {
    const alone = new OwnSession();
    const first = alone.begin();
    for (let open = 1; open < bounds.sessionResultsMax; open++) alone.begin();
    expect(() => alone.begin()).toThrow(expect.objectContaining({ code: 'overloaded' }));
    first.end();
    expect(alone.begin().id.sequence).toBe(1);
    const session = establishedSession();
    const open = Array.from({ length: bounds.sessionResultsMax }, () => session.begin());
    expect(() => session.begin()).toThrow(expect.objectContaining({ code: 'overloaded' }));
    open[0]?.end();
    expect(() => session.begin()).not.toThrow();
  });

  it('has the group keep few results, however many requests are done while one waits', () => {
    const session = new OwnSession();
    let state = emptyState;
    let done = 0;
    const send = (): OpenRequest => {
      const request = session.begin();
      expect(remembered(state, request.id)).toBeUndefined();
      state = withResult(state, request.id, { value: null, place: { index: ++done, term: 1, nowMs: done } as Place });
      request.established();
      return request;
    };
    send().end();
    const slow = session.begin();
    const beside = Array.from({ length: 3 }, () => session.begin());
    for (let at = 0; at < 3_000; at++) send().end();
    expect([state.sessions.size, Math.max(...Array.from(state.sessions.values(), ({ results }) => results.length)) <= 256]).toEqual([
      2,
      true,
    ]);
    for (const request of [slow, ...beside]) request.end();
    // The first one has room again, and what was kept of it is acknowledged.
    const next = send();
    expect([next.id.session, state.sessions.get(next.id.session)?.results.length]).toEqual([slow.id.session, 1]);
  });

  it('uses none again that was not used for so long that the group may have forgotten it', () => {
    let nowMs = 0;
    const session = new OwnSession(() => nowMs);
    const first = session.begin();
    first.established();
    first.end();
    nowMs += bounds.sessionMsMax / 2 - 1;
    expect(session.begin().id.session).toBe(first.id.session);
    nowMs += bounds.sessionMsMax / 2;
    expect(session.begin().id).toMatchObject({ session: expect.not.stringMatching(first.id.session), sequence: 1 });
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
