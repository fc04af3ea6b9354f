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
  ])('%j are %j', (text, shown) => {
    expect(shownHosts(text)).toBe(shown);
  });
});
