import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
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

  it.each(['failure-modes', 'rolling-upgrade'])('%s', async (name) => {
    expect(await terminal.play(`docs/operations/${name}.md`)).toBeGreaterThan(2);
  });

  describe('disaster-recovery', () => {
    const page = 'docs/operations/disaster-recovery.md';
    const running = async (...groups: readonly string[]): Promise<void> =>
      vi.waitFor(
        async () => {
          for (const name of groups) expect(statusesIn(await terminal.run(`cep groups show ${name} --json`))).toEqual(['running']);
        },
        { timeout: 90_000, interval: 500 },
      );

    beforeAll(async () => {
      await terminal.run(shown);
      writeFileSync(join(terminal.folder, 'injector.mjs'), injector);
    });

    it('copies that were made while events came are a cluster again', async () => {
      await terminal.run('node injector.mjs > injector.log 2>&1 & disown');
      await vi.waitFor(() => terminal.run('test -s injector.taken'), { timeout: 30_000, interval: 200 });
      expect(await terminal.play(page, /^Copies$/)).toBe(2);
      await terminal.run('touch injector.stop; until test -e injector.ended; do sleep 0.2; done');
      // The two that were copied first go on together before the third one comes, which must not know more than they do.
      await terminal.run(`kill -9 $(cat tour/*.pid); wait || true
        for n in 1 2 3; do rm -rf "tour/coordinator-$n"; cp -a "copies/coordinator-$n" "tour/coordinator-$n"; done
        coordinator 1; coordinator 2; worker 1; worker 2
        until cep groups inject logins --event 'LoginFailed { user: "cy", ip: "203.0.113.9" }'; do sleep 1; done
        coordinator 3`);
      await vi.waitFor(
        async () => {
          const { nodes } = JSON.parse(await terminal.run(statusOfLeader)) as { nodes: readonly { readonly lag: number }[] };
          expect(nodes.map(({ lag }) => lag)).toEqual([0, 0, 0]);
        },
        { timeout: 60_000, interval: 500 },
      );
      await terminal.run('kill -0 $(cat tour/coordinator-?.pid)');
      expect(await terminal.play(page, /^Everything is lost, and there are copies$/)).toBe(1);
      await running('logins', 'shown');
      await terminal.run(
        `kill -0 $(cat tour/coordinator-?.pid)\ncep groups inject logins --event 'LoginFailed { user: "cy", ip: "203.0.113.9" }'`,
      );
    });

    it('a checkpoint that nobody has is put back, or its pipeline begins anew and the others go on', async () => {
      const lose = async (): Promise<void> => {
        await terminal.run(`kill $(cat tour/w?.pid); for n in 1 2; do wait "$(cat "tour/w$n.pid")"; done`);
        await terminal.run(
          'mkdir -p lost; for n in 1 2 3; do cp -a "tour/coordinator-$n/checkpoints/." lost || true; rm -rf "tour/coordinator-$n/checkpoints"; done',
        );
        await terminal.run('worker 1; worker 2');
        await vi.waitFor(async () => expect(await terminal.run('cep groups show logins --json')).toContain('no member has checkpoint'), {
          ...{ timeout: 90_000, interval: 500 },
        });
      };
      await lose();
      await terminal.run('cp -a lost tour/coordinator-3/checkpoints');
      await running('logins', 'shown');
      await lose();
      await terminal.run("sed 's/- name: guesses/- name: again/' tour/group.yaml > tour/other.yaml");
      await terminal.run('cep groups deploy tour/other.yaml --update; cep groups deploy tour/group.yaml --update');
      await running('logins');
    });

    it('groups alone are deployed again, with their connectors', async () => {
      expect(await terminal.play(page, /^Everything is lost, and there are only the groups$/)).toBe(3);
      await running('logins', 'shown');
    });
  });
});

function statusesIn(group: string): string[] {
  const { deployments } = JSON.parse(group) as { deployments: readonly { readonly status: string }[] };
  return [...new Set(deployments.map(({ status }) => status))];
}

/** As the leader knows it, whoever is asked. */
const statusOfLeader = 'curl -sSf -H "x-api-key: $CEP_API_KEY" "$CEP_COORDINATOR_URL/api/v1/cluster/raft/status?consistency=strong"';

/** A group whose program uses a connector that it does not declare. */
const shown = `
curl -sSf -H "x-api-key: $CEP_API_KEY" -H 'content-type: application/json' -d '{"name": "Shown", "connector_type": "console", "params": {}}' "$CEP_COORDINATOR_URL/api/v1/cluster/connectors"
cat > tour/shown.json <<'END'
{"name": "shown", "pipelines": [{"name": "all", "source": "stream All = LoginOk .emit(user: user) .to(Shown)"}]}
END
cep groups deploy tour/shown.json`;

/** Sends events to any coordinator until it is told to stop, as fast as they are taken. */
const injector = `
import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
const headers = { 'content-type': 'application/json', 'x-api-key': process.env.CEP_API_KEY };
const body = JSON.stringify({ event_type: 'LoginFailed', fields: { user: 'dan', ip: '203.0.113.9' } });
const stop = () => existsSync('injector.stop');
async function send(port) {
  while (!stop()) {
    try {
      const url = 'http://127.0.0.1:' + port + '/api/v1/cluster/pipeline-groups/logins/inject';
      const answer = await fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(10_000) });
      await answer.text();
      if (answer.ok) appendFileSync('injector.taken', '.');
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
await Promise.all([9101, 9102, 9103].map(send));
writeFileSync('injector.ended', '');`;
