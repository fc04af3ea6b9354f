import { createHmac } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import { Duration, type Value } from '../../../shared/events/value.ts';
import { OutboundDoor } from '../../../shared/outbound/outbound-door.ts';
import type { Profile } from '../../../shared/security/credentials/credentials.ts';
import { NetworkPolicy } from '../../../shared/security/network-policy.ts';
import type { ConnectorSettings, ProfileNotTaken } from '../../../worker/connectors/connector.ts';
import { together } from '../../../worker/connectors/delivery/together.ts';
import { latestOf, withProfile } from '../../../worker/connectors/profiles.ts';
import { openSource, settingsOf, withUse } from '../../../worker/connectors/registry.ts';
import { renewedLookup, renewedSink } from '../../../worker/connectors/renewed.ts';

const profile = (properties: Record<string, Value>, more: Partial<Profile> = {}): Profile => ({
  connectorType: undefined,
  properties: new Map(Object.entries(properties)),
  secrets: [],
  ...more,
});
const hook = (...parameters: [string, unknown][]) => settingsOf('Hook', 'rest', [['profile', 'hook'], ...parameters]);
const given = (properties: Record<string, Value>, more?: Partial<Profile>) => ({
  profiles: new Map([['hook', profile(properties, more)]]),
});

const nowhere = { console: () => undefined, door: new OutboundDoor(NetworkPolicy.publicAnd([])) };

describe('a profile', () => {
  it('fills in parameters, by any of their names; what stands at the connector counts first', () => {
    const { parameters } = withProfile(
      hook(['url', 'http://mine/']),
      given({ base_url: 'http://theirs/', timeout: '4s', reset_timeout: 2 }),
    );
    expect(parameters.get('url')).toBe('http://mine/');
    expect([parameters.get('timeout'), parameters.get('reset_timeout')]).toEqual([new Duration(4_000), new Duration(2_000)]);
    expect(withProfile(hook(), given({ base_url: 'http://theirs/' })).parameters.get('url')).toBe('http://theirs/');
  });

  it('brings its secrets, besides those of the connector', () => {
    const headers = { m: ['authorization', 'own secret'] };
    expect(withProfile(hook(['headers', headers]), given({}, { secrets: ['theirs'] })).secrets).toEqual(['own secret', 'theirs']);
  });

  it('is for connectors of its type', () => {
    expect(() => withProfile(hook(), given({}, { connectorType: 'kafka' }))).toThrow(/profile 'hook' is for connectors of type kafka/);
    expect(withProfile(hook(), given({ url: 'http://a/' }, { connectorType: 'http' })).parameters.get('url')).toBe('http://a/');
  });

  it.each<[Record<string, Value>, RegExp]>([
    [{ urll: 'http://a/' }, /a property 'urll'/],
    [{ profile: 'another' }, /a property 'profile'/],
    [{ url: 5 }, /'url' must be a text/],
    [{ timeout: 'soon' }, /'timeout' must be a duration/],
    [{ headers: 'none' }, /'headers' must be names with values/],
    [{ retries: 1.5 }, /'retries' must be a whole number/],
    [{ omit_null: 'yes' }, /'omit_null' must be true or false/],
    [{ method: 'BREW' }, /'method' must be GET or POST/],
    [{ retries: -1 }, /'retries': found -1, expected 0 to 1000000/],
    [{ timeout: '100d' }, /'timeout': found 100d, expected 1ms to 24d/],
    [{ headers: new Map([['a', 5]]) }, /'headers': found int for "a", expected a text/],
  ])('with %o is refused', (properties, message) => {
    expect(() => withProfile(hook(), given(properties))).toThrow(
      expect.objectContaining({ code: 'connector_error', message: expect.stringMatching(message) }),
    );
  });

  it('that there is not is refused, with the nearest', () => {
    expect(() => withProfile(settingsOf('Hook', 'http', [['profile', 'hok']]), given({}))).toThrow(
      expect.objectContaining({ code: 'connector_error', hint: "did you mean 'hook'?" }),
    );
  });

  it('is nothing for programs of those who have no credentials, though it may be there', () => {
    expect(() => withProfile(hook(), {})).toThrow(/for programs of the server itself/);
    const without = settingsOf('Hook', 'http', [['url', 'http://a/']]);
    expect(withProfile(without, {})).toBe(without);
  });
});

describe('a profile that is read again', () => {
  const urlOf = (settings: ConnectorSettings): unknown => settings.parameters.get('url');
  /** What a change makes of it. */
  const renewed = () => {
    const { profiles } = given({ url: 'http://a/' });
    const notTaken: ProfileNotTaken[] = [];
    return {
      settings: withProfile(hook(['timeout', '2s']), { profiles, profileNotTaken: (found) => notTaken.push(found) }),
      become: (properties: Record<string, Value>): void => void profiles.set('hook', profile(properties, { secrets: ['new secret'] })),
      goes: (): void => void profiles.delete('hook'),
      notTaken,
    };
  };

  it('gives its connector other settings, unless they do not fit it, which is told once for each reading', () => {
    const { settings, become, goes, notTaken } = renewed();
    const before = latestOf(settings);
    expect(latestOf(settings)).toBe(before);
    become({ url: 'http://b/' });
    expect([urlOf(latestOf(settings)), latestOf(settings).secrets]).toEqual(['http://b/', ['new secret']]);
    become({ urll: 'http://c/' });
    expect(urlOf(latestOf(settings))).toBe('http://b/');
    expect(latestOf(latestOf(settings)).parameters.get('timeout')).toBe('2s');
    const common = { connector: 'Hook', profile: 'hook' };
    const unknown =
      "connector 'Hook': profile 'hook' has a property 'urll', which connectors of type http do not take; did you mean 'url'?";
    expect(notTaken).toEqual([{ ...common, problem: unknown }]);
    become({ url: 7 });
    expect(urlOf(latestOf(settings))).toBe('http://b/');
    goes();
    expect(urlOf(latestOf(settings))).toBe('http://b/');
    expect(notTaken.slice(1)).toEqual([
      { ...common, problem: "connector 'Hook': profile 'hook': 'url' must be a text, found a number" },
      {
        ...common,
        problem: expect.stringMatching(/there is no profile 'hook' among the credentials; the server reads them from the file/),
      },
    ]);
    become({ url: 'http://d/' });
    expect([urlOf(latestOf(settings)), notTaken.length]).toEqual(['http://d/', 3]);
  });

  it('changes what one use of the connector has, but what stands there', () => {
    const { settings, become } = renewed();
    const use = withUse(settings, [['method', 'PUT']]);
    become({ url: 'http://b/', method: 'POST' });
    const latest = latestOf(use);
    expect([urlOf(latest), latest.parameters.get('method')]).toEqual(['http://b/', 'PUT']);
  });

  it('opens a sink again for the next message; one that cannot be opened so stays as it is, and that is told', async () => {
    const { settings, become, notTaken } = renewed();
    const said: string[] = [];
    const sink = renewedSink(settings, (now) => {
      const url = String(urlOf(now));
      if (url === 'wrong') throw new Error('it is no address');
      return { send: async ({ id }) => void said.push(`${id} to ${url}`), close: async () => void said.push(`end of ${url}`) };
    });
    const send = (id: string): Promise<void> => sink.send({ id, topic: null, payload: '{}' });
    await send('1');
    become({ url: 'http://b/' });
    await send('2');
    become({ url: 'wrong' });
    await send('3');
    await sink.close();
    expect(said).toEqual(['1 to http://a/', '2 to http://b/', 'end of http://a/', '3 to http://b/', 'end of http://b/']);
    expect(notTaken).toEqual([{ connector: 'Hook', profile: 'hook', problem: 'it is no address' }]);
  });

  it('gives one after the other to a sink that no longer takes many at once, and says what became of each', async () => {
    const { settings, become } = renewed();
    const said: string[] = [];
    const sink = renewedSink(settings, (now) => {
      const url = String(urlOf(now));
      const send = async ({ id }: { readonly id: string }): Promise<void> => {
        if (id === '2') throw new Error('not this one');
        said.push(`${id} to ${url}`);
      };
      return { send, close: async () => undefined, ...(url === 'http://a/' && { batching: together(8, send) }) };
    });
    become({ url: 'http://b/' });
    const outcomes = await sink.batching?.send(['1', '2', '3'].map((id) => ({ id, topic: null, payload: '{}' })));
    expect(said).toEqual(['1 to http://b/', '3 to http://b/']);
    expect(outcomes).toEqual(['taken', expect.objectContaining({ message: 'not this one' }), 'taken']);
  });

  it('opens a look-up again for the next key; what is being looked up is found', async () => {
    const { settings, become } = renewed();
    const said: string[] = [];
    const answers: (() => void)[] = [];
    const lookup = renewedLookup(settings, (now) => ({
      find: (key) => new Promise((resolve) => answers.push(() => resolve(`${String(key)} of ${String(urlOf(now))}`))),
      close: async () => void said.push(`end of ${String(urlOf(now))}`),
    }));
    const { signal } = new AbortController();
    const first = lookup.find('1', signal);
    become({ url: 'http://b/' });
    const second = lookup.find('2', signal);
    answers[1]?.();
    expect([await second, said]).toEqual(['2 of http://b/', []]);
    answers[0]?.();
    expect(await first).toBe('1 of http://a/');
    await vi.waitFor(() => expect(said).toEqual(['end of http://a/']));
    await lookup.close();
    expect(said).toEqual(['end of http://a/', 'end of http://b/']);
  });

  it('is what a webhook goes by, from the next request on, unless it is none', () => {
    const notTaken: unknown[] = [];
    const profiles = new Map([['hook', profile({ secret: 'the first secret' })]]);
    const settings = withProfile(hook(), { profiles, profileNotTaken: ({ problem }) => notTaken.push(problem) });
    const opened = openSource({ ...settings, subscription: 's', topic: null, textFields: [] }, nowhere);
    const body = Buffer.from('{}');
    const takes = (secret: string): boolean | undefined =>
      opened.webhook?.isGenuine(body, `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`);
    const taken = (): unknown[] => ['the first secret', 'the second secret'].map(takes);
    expect(taken()).toEqual([true, false]);
    profiles.set('hook', profile({ secret: 'the second secret' }));
    expect(taken()).toEqual([false, true]);
    profiles.set('hook', profile({ secret: '' }));
    expect([taken(), notTaken]).toEqual([[false, true], [expect.stringContaining('its secret is empty')]]);
  });
});
