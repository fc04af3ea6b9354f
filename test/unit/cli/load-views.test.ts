import { expect, it } from 'vitest';
import { loadViews } from '../../../cli/terminal/load-views.ts';

it('loads what draws on terminals in its form for use, and leaves the environment as it was', async () => {
  const before = process.env['NODE_ENV'];
  expect(await loadViews({})).toBeDefined();
  // Only the form for developers can act; it also keeps each drawing, with all that was drawn, until the process ends.
  expect((await import('react')).act).toBeUndefined();
  expect(process.env['NODE_ENV']).toBe(before);
});
