import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, it } from 'vitest';

const bin = fileURLToPath(new URL('../../../cli/bin.mjs', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'cep-unreadable-'));

afterEach(() => {
  chmodSync(join(folder, 'closed/in'), 0o700);
  rmSync(folder, { recursive: true });
});

/** Before a command: it runs as the same user, and what that user may not read is refused to it. Root may read everything. */
const asOrdinaryUser = process.getuid?.() === 0 ? ['setpriv', '--bounding-set', '-dac_override,-dac_read_search'] : [];

it('a folder that cannot be read is told', () => {
  mkdirSync(join(folder, 'closed/in'), { recursive: true });
  chmodSync(join(folder, 'closed/in'), 0);
  const [command = '', ...args] = [...asOrdinaryUser, process.execPath, bin, 'check', './closed'];
  const { status, stderr } = spawnSync(command, args, { cwd: folder, encoding: 'utf8' });
  expect([status, stderr]).toEqual([2, "error: folder 'closed/in' cannot be read: permission denied\n"]);
});
