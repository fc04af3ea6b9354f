import { Command, Option } from 'clipanion';
import { colorsFor } from './colors.ts';
import { ResultCommand } from './command.ts';
import { type CheckedProgram, checkProgram } from './program/checked-program.ts';
import { diagnosticsText } from './program/diagnostics.ts';
import { programPaths } from './program/program-paths.ts';
import { outcomeJson, outcomeText, type TestTotals, totalsText } from './testing/report.ts';
import { runTest } from './testing/test-run.ts';
import { runAndWatch, type WatchedRun } from './watch.ts';

export class TestCommand extends ResultCommand {
  static override paths = [['test']];
  static override usage = Command.Usage({
    category: 'Programs',
    description: 'Run the tests that stand in programs',
    details:
      'FILE is a program or a folder of programs, the current folder if there is none. Each test block runs in virtual time with an engine of its own. A failed expectation says what was expected, what came, ' +
      'and what came closest. Ends with 1 when a test fails or a program has errors.',
    examples: [
      ['All tests of this folder', '$0 test'],
      ['All tests of a program', '$0 test rules.vpl'],
      ['The tests of a folder that are about one thing', '$0 test rules --name lateness'],
      ['Again whenever a program changes', '$0 test --watch rules/*.vpl'],
    ],
  });

  named = Option.Rest({ name: 'FILE' });
  name = Option.String('-t,--name', { description: 'Run only the tests whose names hold this text' });
  watch = Option.Boolean('--watch', false, { description: 'Run again when a program changes' });

  /** Programs and folders; the current folder where none is named. */
  get files(): readonly string[] {
    return this.named.length > 0 ? this.named : ['.'];
  }

  override async run(): Promise<number> {
    if (this.watch) return runAndWatch(async () => this.#runAll(), this.context, this.files);
    return this.#runAll().exitCode;
  }

  #runAll(): WatchedRun {
    const programs = programPaths(this.files).map((path) => checkProgram(path));
    const totals = programs.map((program) => this.#runTests(program));
    const total = { passed: sum(totals.map(({ passed }) => passed)), failed: sum(totals.map(({ failed }) => failed)) };
    this.#reportTotals(total);
    const isRight = programs.every(({ plan }) => plan !== null);
    const hasTests = total.passed + total.failed > 0;
    if (isRight && !hasTests) this.note(this.#noTests(programs));
    return {
      exitCode: isRight && hasTests && total.failed === 0 ? 0 : 1,
      files: programs.flatMap(({ sources }) => sources.map(({ name }) => name)),
      patterns: programs.flatMap(({ patterns }) => patterns),
    };
  }

  #noTests(programs: readonly CheckedProgram[]): string {
    const names = this.files.join(', ');
    const written = programs.reduce((sum, { tests }) => sum + tests.length, 0);
    if (written > 0) return `no test of ${names} has '${this.name}' in its name`;
    return `no tests in ${names}: a block \`test "name":\` with events and \`expect\` is one`;
  }

  #runTests({ plan, tests: all, diagnostics, sources }: CheckedProgram): TestTotals {
    const { stdout, stderr, env } = this.context;
    if (plan === null) {
      stderr.write(diagnosticsText(diagnostics, stderr, env));
      return { passed: 0, failed: 0 };
    }
    if (!this.json) this.print(`${sources[0]?.name}\n`);
    const { name = '' } = this;
    const tests = all.filter((test) => test.name.includes(name));
    let failed = 0;
    for (const test of tests) {
      const outcome = runTest(plan, test);
      if (outcome.failures.length > 0) failed++;
      this.print(this.json ? `${outcomeJson(outcome)}\n` : outcomeText(outcome, colorsFor(stdout, env)));
    }
    return { passed: tests.length - failed, failed };
  }

  #reportTotals(totals: TestTotals): void {
    const { passed, failed } = totals;
    if (this.json) this.printJson({ type: 'summary', tests: passed + failed, passed, failed });
    else this.print(`\n${totalsText(totals, colorsFor(this.context.stdout, this.context.env))}`);
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
