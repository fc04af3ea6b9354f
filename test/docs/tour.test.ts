import { afterAll, expect, it } from 'vitest';
import { skipsTerminal } from './terminal.ts';
import { PageTerminal } from './terminal-page.ts';

const terminals: PageTerminal[] = [];

afterAll(() => Promise.all(terminals.map((terminal) => terminal.close())));

it.skipIf(skipsTerminal('the tour'))('the tour leads from a clone to a cluster as it is written', { timeout: 240_000 }, async () => {
  const terminal = new PageTerminal();
  terminals.push(terminal);
  expect(await terminal.play('docs/tour.md')).toBeGreaterThan(9);
});
