import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { certificateProblem } from '../../../shared/security/tls-files.ts';

const cert = readFileSync(new URL('../../integration/server/certificates/first-cert.pem', import.meta.url), 'utf8');

it.each([
  ['2026-11-01T00:00:00Z', 'it does not count yet: it begins at Nov 22 03:25:49 2026 GMT'],
  ['2026-12-01T00:00:00Z', undefined],
  ['2126-10-15T03:25:00Z', undefined],
  ['2126-10-15T03:26:00Z', 'it counts until Oct 29 03:25:49 2126 GMT'],
  ['2126-10-30T00:00:00Z', 'it has expired: it counted until Oct 29 03:25:49 2126 GMT'],
])('a certificate for 2026 to 2126 is told of at %s: %s', (now, said) => {
  expect(certificateProblem({ cert, key: '' }, Date.parse(now))).toBe(said);
});
