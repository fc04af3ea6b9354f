import { describe, expect, it } from 'vitest';
import { Duration, type Value } from '../../../shared/events/value.ts';
import type { Profile } from '../../../shared/security/credentials/credentials.ts';
import { withProfile } from '../../../worker/connectors/profiles.ts';
import { settingsOf } from '../../../worker/connectors/registry.ts';

const profile = (properties: Record<string, Value>, more: Partial<Profile> = {}): Profile => ({
  connectorType: undefined,
  properties: new Map(Object.entries(properties)),
  secrets: [],
  ...more,
});
const hook = (...parameters: [string, unknown][]) => settingsOf('Hook', 'rest', [['profile', 'hook'], ...parameters]);
const given = (properties: Record<string, Value>, more?: Partial<Profile>) => new Map([['hook', profile(properties, more)]]);

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
    expect(() => withProfile(hook(), undefined)).toThrow(/for programs of the server itself/);
    const without = settingsOf('Hook', 'http', [['url', 'http://a/']]);
    expect(withProfile(without, undefined)).toBe(without);
  });
});
