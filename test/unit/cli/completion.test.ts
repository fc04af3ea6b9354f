import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { commands } from '../../../cli/commands.ts';
import { cep } from './cep.ts';

/** What bash offers behind these words; the last one is being typed. */
function offered(script: string, words: readonly string[]): readonly string[] {
  const quoted = words.map((word) => `'${word}'`).join(' ');
  const ask = `COMP_WORDS=(cep ${quoted}); COMP_CWORD=${words.length}; _cep; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { status, stdout, stderr } = spawnSync('bash', ['-c', `${script}\n${ask}`], { encoding: 'utf8' });
  expect([status, stderr]).toEqual([0, '']);
  return stdout.split('\n').filter((line) => line !== '');
}

describe('cep completion', () => {
  it('completes commands and options in bash', async () => {
    const { stdout: script, exitCode } = await cep(['completion', 'bash']);
    expect(exitCode).toBe(0);
    expect(new Set(offered(script, ['']))).toEqual(
      new Set([...commands.map(({ words }) => words.split(' ')[0]), '--config', '--help', '--version']),
    );
    expect(offered(script, ['sim'])).toEqual(['simulate']);
    expect(offered(script, ['dlq', ''])).toEqual(['ls', 'show', 'replay', 'discard']);
    expect(offered(script, ['simulate', '--tim'])).toEqual(['--timed', '--time-field']);
    expect(offered(script, ['dlq', 'replay', '--ser'])).toEqual(['--server']);
    expect(offered(script, ['check', 'ru'])).toEqual([]);
  });

  it('completes the words that options and arguments take', async () => {
    const { stdout: script } = await cep(['completion', 'bash']);
    expect(offered(script, ['config-gen', '--format', ''])).toEqual(['yaml', 'toml']);
    expect(offered(script, ['config-gen', '-f', 't'])).toEqual(['toml']);
    expect(offered(script, ['simulate', '-q', '--format', ''])).toEqual(['evt', 'jsonl', 'csv']);
    expect(offered(script, ['completion', ''])).toEqual(expect.arrayContaining(['bash', 'zsh', 'fish']));
    const { stdout: fish } = await cep(['completion', 'fish']);
    expect(fish).toContain("-n '__fish_seen_subcommand_from config-gen; and __fish_prev_arg_in --format -f' -a 'yaml toml'\n");
  });

  it('offers the words behind a word once in fish', async () => {
    const { stdout } = await cep(['completion', 'fish']);
    const ofLetters = stdout.split('\n').filter((line) => /seen_subcommand_from dlq\b/.test(line));
    expect(ofLetters[0]).toContain(
      "-n '__fish_seen_subcommand_from dlq; and not __fish_seen_subcommand_from ls show replay discard' -a 'ls show replay discard'",
    );
    expect(ofLetters.slice(1).every((line) => /from dlq; and __fish_seen_subcommand_from (ls|show|replay|discard)'/.test(line))).toBe(true);
  });

  it('prints scripts for zsh and fish', async () => {
    expect((await cep(['completion', 'zsh'])).stdout).toMatch(
      /^autoload -Uz compinit bashcompinit[\s\S]*complete -o default -F _cep cep\n$/,
    );
    const { stdout } = await cep(['completion', 'fish']);
    expect(stdout).toMatch(/^complete -c cep -n '__fish_use_subcommand' -a 'init dev check /);
    expect(stdout).toMatch(/seen_subcommand_from dlq; and __fish_seen_subcommand_from replay' -a '[^']*--server/);
  });

  it('refuses other shells', async () => {
    expect(await cep(['completion', 'tcsh'])).toMatchObject({ exitCode: 1, stdout: '' });
  });
});
