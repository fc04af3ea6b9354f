/** Runs every static check at once; one line each, and the output only of those that failed. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { root } from './generated.mjs';

const bin = (name) => join(root, 'node_modules/.bin', name);

const steps = [
  { name: 'types', command: bin('tsc'), args: [] },
  { name: 'types of console', command: bin('tsc'), args: ['-p', 'cli/console/tsconfig.json'] },
  { name: 'lint and format', command: bin('biome'), args: ['check', '--error-on-warnings', '--colors=off'] },
  { name: 'boundaries', command: bin('vitest'), args: ['run', 'test/tidy.test.ts'] },
  { name: 'unused code', command: bin('knip'), args: ['--no-progress', '--cache'] },
  { name: 'generated files', command: process.execPath, args: ['scripts/generate.mjs', '--check'] },
];

const results = await Promise.all(steps.map(runStep));
for (const { name, output } of results.filter((result) => !result.passed)) console.error(`\n--- ${name} ---\n${output.trimEnd()}`);
process.exitCode = results.every((result) => result.passed) ? 0 : 1;

function runStep({ name, command, args }) {
  return new Promise((resolve) => {
    const started = performance.now();
    const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    child.stdout.on('data', (chunk) => (output += chunk));
    child.stderr.on('data', (chunk) => (output += chunk));
    const finish = (passed) => {
      console.log(`${passed ? 'passed' : 'FAILED'}  ${name.padEnd(16)} ${((performance.now() - started) / 1000).toFixed(1)} s`);
      resolve({ name, passed, output });
    };
    child.on('error', (error) => {
      output += error.message;
      finish(false);
    });
    child.on('close', (code) => finish(code === 0));
  });
}
