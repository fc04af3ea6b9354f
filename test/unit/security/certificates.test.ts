import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Certificates } from '../../../shared/http/certificates.ts';
import type { Telemetry } from '../../../shared/telemetry/internal-events.ts';

const dayMs = 86_400_000;
const folder = new URL('../../integration/server/certificates/', import.meta.url).pathname;
const files = { certPath: `${folder}first-cert.pem`, keyPath: `${folder}first-key.pem` };

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

it('tells of a certificate that runs out while its process lives, once a day from two weeks before', async () => {
  const end = Date.parse('2126-10-29T03:25:49Z');
  vi.setSystemTime(end - 15.5 * dayMs);
  const said: string[] = [];
  const report = (_: string, { problem }: { readonly problem: string }) => said.push(problem);
  const certificates = await Certificates.read(files, { report } as unknown as Telemetry);
  certificates.watch();
  vi.advanceTimersByTime(dayMs);
  expect(said).toEqual([]);
  vi.advanceTimersByTime(2 * dayMs);
  expect(said.splice(0)).toEqual(Array(2).fill('it counts until Oct 29 03:25:49 2126 GMT'));
  vi.advanceTimersByTime(13 * dayMs);
  expect(said).toHaveLength(13);
  expect(said.at(-1)).toBe('it has expired: it counted until Oct 29 03:25:49 2126 GMT');
  certificates.close();
  vi.advanceTimersByTime(5 * dayMs);
  expect(said).toHaveLength(13);
});
