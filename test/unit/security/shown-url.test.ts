import { describe, expect, it } from 'vitest';
import { shownHosts, shownUrl, withShownUrls } from '../../../shared/security/shown-url.ts';

describe('an address as people may see it', () => {
  it.each([
    ['https://ann:pw@h:1/a?b=c#d', 'https://[REDACTED]@h:1/a?[REDACTED]'],
    ['https://h/a', 'https://h/a'],
    ['alerts.ann', 'alerts.ann'],
  ])('%j is %j', (text, shown) => {
    expect(shownUrl(text)).toBe(shown);
  });

  it.each([
    ['nats://cep:p1@h1,nats://cep:p2@h2', 'nats://[REDACTED]@h1,nats://[REDACTED]@h2'],
    ['nats://cep:p1@h1,cep:p2@h2', 'nats://[REDACTED]@h2'],
    [
      'http://ann:pw@h/http://bob:pw@h2?a 1http://h?a a1.b+c://h?a',
      'http://[REDACTED]@h/http://bob:pw@h2?[REDACTED] 1http://h?a a1.b+c://h?[REDACTED]',
    ],
    ['.to(Hook, url: "https://h/a,b?c=d")', '.to(Hook, url: "https://h/a,b?[REDACTED]")'],
  ])('in a text, %j is %j', (text, shown) => {
    expect(withShownUrls(text)).toBe(shown);
  });
});

describe('hosts as people may see them', () => {
  it.each([
    ['cep:hunter2@h:4222', '[REDACTED]@h:4222'],
    ['token@h', '[REDACTED]@h'],
    ['nats://cep:p1@h1,tls://cep:p2@[::1]:4222/', 'nats://[REDACTED]@h1,tls://[REDACTED]@[::1]:4222/'],
    ['h1:9092, cep:p@2@h2', 'h1:9092, [REDACTED]@h2'],
    ['cep:hun,ter2@h', '[REDACTED],[REDACTED]@h'],
    ['nats://cep:hun,ter2@h', '[REDACTED],[REDACTED]@h'],
    ['h1:9092,h2', 'h1:9092,h2'],
    ['nats://h1:4222', 'nats://h1:4222'],
    [' nats://cep:pw@h1\t,\n h2 ', ' nats://[REDACTED]@h1\t,\n h2 '],
    [' , h 1', ' ,[REDACTED]'],
  ])('%j are %j', (text, shown) => {
    expect(shownHosts(text)).toBe(shown);
  });
});

/** What takes time by the square of the length is not through with these in hours. */
describe('in a text of a million characters', () => {
  const many = (text: string): string => text.repeat(1_000_000 / text.length);

  it.each([
    ['blanks', `${many(' ')}h:4222/x`, '[REDACTED]'],
    ['blanks around a login', `${many(' ')}cep:pw@h${many(' ')}`, `${many(' ')}[REDACTED]@h${many(' ')}`],
    ['logins', `${many('@')} h`, '[REDACTED]'],
    ['brackets', many('['), many('[')],
    ['digits', `h:${many('1')}x`, '[REDACTED]'],
  ])('of %s, hosts are shown', (_, text, shown) => {
    expect(shownHosts(text) === shown).toBe(true);
  });

  it.each([
    ['words', 'a.'],
    ['commas', ',a'],
    ['colons', 'a:'],
    ['one word', 'a'],
  ])('of %s, addresses are shown', (_, text) => {
    expect(withShownUrls(`${many(text)} http://ann:pw@h`) === `${many(text)} http://[REDACTED]@h`).toBe(true);
  });
});
