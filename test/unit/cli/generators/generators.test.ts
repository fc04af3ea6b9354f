import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { programOf } from '../../../../cli/generators/generator.ts';
import { Random } from '../../../../cli/generators/random.ts';
import { generators } from '../../../../cli/generators/table.ts';
import { compile } from '../../../../worker/engine/index.ts';
import { WorkFolder } from '../work-folder.ts';

const work = new WorkFolder();

/** What `seed 1` has given since the generators are there: files that people keep stay what they are. */
const digests: Readonly<Record<string, string>> = {
  fraud: '098707c9aa5cefc2',
  iot: '534b5edb141ed686',
  trading: 'af38c0e6456a22f9',
};

describe.each(generators.map((generator) => [generator.name, generator] as const))('the generator %s', (name, generator) => {
  it('gives the same events for a seed, for ever', async () => {
    const { stdout } = await work.cep(['generate', name, '--count', '5000', '--rate', '100']);
    expect(stdout.split('\n')).toHaveLength(5_001);
    expect(createHash('sha256').update(stdout).digest('hex').slice(0, 16)).toBe(digests[name]);
    expect((await work.cep(['generate', name, '--count', '5000', '--rate', '100', '--seed', '2'])).stdout).not.toBe(stdout);
  });

  it('comes with rules that are right and laid out as they should be', async () => {
    work.write('rules.vpl', (await work.cep(['generate', name, '--rules'])).stdout);
    expect(await work.cep(['check', './rules.vpl'])).toMatchObject({ exitCode: 0, stderr: '' });
    expect(await work.cep(['fmt', '--check', './rules.vpl'])).toMatchObject({ exitCode: 0 });
    expect(await work.cep(['generate', name, '--schema'])).toMatchObject({ exitCode: 0, stdout: generator.declarations });
  });

  it('gives the same alerts from both kinds of file, and each rule finds something', async () => {
    work.write('rules.vpl', programOf(generator));
    await work.cep(['generate', name, '--count', '5000', '-o', './events.evt']);
    await work.cep(['generate', name, '--count', '5000', '-o', './events.jsonl']);
    const [evt, jsonl] = await Promise.all(
      ['./events.evt', './events.jsonl'].map((events) =>
        work.cep(['simulate', '-p', './rules.vpl', '-e', events, '--json', '--strict-events']),
      ),
    );
    const alertsOf = (text = ''): string[] => text.split('\n').filter((line) => line.startsWith('{"type":"output"'));
    expect(alertsOf(evt?.stdout)).toEqual(alertsOf(jsonl?.stdout));
    const found = new Set(alertsOf(evt?.stdout).map((line) => JSON.parse(line).stream));
    expect([...found].sort()).toEqual([...compile(programOf(generator)).streams].sort());
    expect(evt?.stdout).toContain('"events_processed":5000,"events_invalid":0,"events_incomplete":0');
  });
});

describe('what is told in between', () => {
  it('is found: every account that was taken over, every stolen card that bought something', () => {
    fc.assert(
      fc.property(fc.nat(), (seed) => {
        const [fraud] = generators;
        if (fraud === undefined) throw new Error('there are no generators');
        const program = compile(programOf(fraud)).start();
        const next = fraud.open(new Random(seed));
        const told = new Set<string>();
        for (let index = 0; index < 3_000; index++) {
          const { type, fields } = next();
          const { account, card, ok, amount } = Object.fromEntries(fields) as Record<string, never>;
          if (type === 'Login' && ok && String(account).startsWith('t-')) told.add(String(account));
          if (type === 'Payment' && Number(amount) > 500 && String(card).startsWith('stolen-')) told.add(String(card));
          program.push({ type, fields: Object.fromEntries(fields) as never, timestamp: index * 10 });
        }
        const found = program.take().map(({ fields }) => String(fields['account'] ?? fields['card']));
        expect(found.filter((who) => /^(t|stolen)-/.test(who)).sort()).toEqual([...told].sort());
      }),
      { numRuns: 10 },
    );
  });
});

describe('cep generate', () => {
  it('spreads the events over the time that the rate says', async () => {
    const { stdout } = await work.cep(['generate', 'iot', '--count', '4', '--rate', '3', '--format', 'jsonl']);
    const times = stdout
      .trimEnd()
      .split('\n')
      .map((line) => Date.parse(JSON.parse(line).timestamp));
    expect(times).toEqual([0, 333, 666, 1_000]);
  });

  it.each([
    [['tradin'], 1, "unknown schema 'tradin', expected fraud, iot, trading\n  hint: did you mean 'trading'?"],
    [['iot', '--rate', '0'], 1, "--rate: expected a whole number, at least 1, found '0'"],
    [['iot', '--rate', '2000000'], 1, '--rate: expected at most 1000000'],
    [['iot', '--count', 'many'], 1, '--count: expected a whole number'],
    [['iot', '-o', './x.csv'], 1, "--format: expected evt or jsonl, found 'csv'"],
    [['iot', '-o', './none/x.evt'], 2, "x.evt' cannot be written"],
  ])('refuses %j', async (args, exitCode, message) => {
    const refused = await work.cep(['generate', ...args]);
    expect(refused.stderr).toContain(message);
    expect(refused.exitCode).toBe(exitCode);
  });
});
