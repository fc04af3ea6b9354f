import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readOutputs, requireSum, requireWritten, WrongOutputs } from '../../bench/outputs.ts';

const folder = mkdtempSync(join(tmpdir(), 'cep-bench-outputs-'));
afterAll(() => rmSync(folder, { recursive: true }));

function written(text: string): ReturnType<typeof readOutputs> {
  const path = join(folder, 'out.jsonl');
  writeFileSync(path, text);
  return readOutputs(path);
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

describe('the outputs of a run', () => {
  it('are counted and digested without the summary', () => {
    expect(written('{"a":1}\n{"b":2}\n{"summary":0}\n')).toEqual({ outputs: 2, sha256: sha256('{"a":1}\n{"b":2}\n') });
  });

  it('may be none', () => {
    expect(written('{"summary":0}\n')).toEqual({ outputs: 0, sha256: sha256('') });
    expect(written('')).toEqual({ outputs: 0, sha256: sha256('') });
  });

  it('may be longer than what is read at once', () => {
    const lines = Array.from({ length: 40_000 }, (_, i) => `{"number":${i}}\n`).join('');
    expect(written(`${lines}{"summary":0}\n`)).toEqual({ outputs: 40_000, sha256: sha256(lines) });
  });
});

describe('a run that gives something else', () => {
  const expected = { outputs: 2, sha256: 'a', sum: 1e6 };

  it('is refused by the number of its outputs, by their bytes, or by their values', () => {
    expect(() => requireWritten('x', { outputs: 3, sha256: 'a' }, expected)).toThrow(new WrongOutputs('x: 3 outputs for 2'));
    expect(() => requireWritten('x', { outputs: 2, sha256: 'b' }, expected)).toThrow(WrongOutputs);
    expect(() => requireSum('x', { outputs: 2, sum: 1e6 + 1 }, expected)).toThrow(WrongOutputs);
    expect(() => requireSum('x', { outputs: 2, sum: Number.NaN }, expected)).toThrow(WrongOutputs);
  });

  it('is not one that rounds in other places', () => {
    expect(() => requireWritten('x', { outputs: 2, sha256: 'a' }, expected)).not.toThrow();
    expect(() => requireSum('x', { outputs: 2, sum: 1e6 + 1e-6 }, expected)).not.toThrow();
  });
});
