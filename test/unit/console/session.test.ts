import './session-storage.ts';
import { expect, it, vi } from 'vitest';

it.each([
  ['schl\u00fcsselbund', null],
  ['a key', null],
  ['key\u200b', null],
  ['', null],
  ['ab/cd==', 'ab/cd=='],
])('has of the kept key %j %j', async (kept, key) => {
  sessionStorage.setItem('cep.api-key', kept);
  vi.resetModules();
  const { apiKey } = await import('../../../cli/console/service/session.ts');
  expect(apiKey()).toBe(key);
});
