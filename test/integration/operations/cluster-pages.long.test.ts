import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { skipsTerminal } from '../../docs/terminal.ts';
import { PageTerminal } from '../../docs/terminal-page.ts';

const runbooks = 'docs/operations/runbooks';
const names = readdirSync(join(import.meta.dirname, '../../..', runbooks)).filter((name) => name !== 'README.md');
const isSkipped = skipsTerminal('the pages about running a cluster');

/** Each page is played as an operator plays it: in the cluster that the tour makes, one after the other, as the one before has left it. */
describe.skipIf(isSkipped)('commands of the operations pages work on a cluster', { timeout: 600_000 }, () => {
  let terminal: PageTerminal;

  beforeAll(async () => {
    terminal = new PageTerminal();
    await terminal.run('export CEP_METRICS_ENABLED=true CEP_METRICS_AUTH=true CEP_METRICS_PORT=0 CEP_SERVER=http://127.0.0.1:9001');
    await terminal.play('docs/tour.md', /^[3-6]\. /);
    await terminal.run('cep deploy examples/brute-force/rules.vpl --name brute-force');
  }, 240_000);

  afterAll(() => terminal.close());

  it.each(['monitoring', 'security-checklist', 'sizing'])('%s', async (name) => {
    expect(await terminal.play(`docs/operations/${name}.md`)).toBeGreaterThan(1);
  });

  it.each(names)('runbook %s', async (name) => {
    expect(await terminal.play(join(runbooks, name))).toBeGreaterThan(0);
  });

  it.each(['failure-modes', 'rolling-upgrade', 'disaster-recovery'])('%s', async (name) => {
    expect(await terminal.play(`docs/operations/${name}.md`)).toBeGreaterThan(2);
  });
});
