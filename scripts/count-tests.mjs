/**
 * `node count-tests.mjs RESULTS FAILED_STEPS`: prints "N passed, N failed" from a JSON report of the tests, and exits 1 if anything
 * failed. A test file that did not even load counts as one failure; so does a skipped test, and a report that is missing or empty.
 */
import { readFileSync } from 'node:fs';

const [, , file = '', failedSteps = '0'] = process.argv;
const { passed, failed } = count(readReport(file));
const failures = failed + Number(failedSteps);
console.log(`${passed} passed, ${failures} failed`);
process.exitCode = failures === 0 ? 0 : 1;

function readReport(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}

function count(report) {
  const files = report?.testResults ?? [];
  const tests = files.flatMap((result) => result.assertionResults);
  const passed = tests.filter((test) => test.status === 'passed').length;
  const broken = files.filter((result) => result.status === 'failed' && result.assertionResults.every((test) => test.status === 'passed'));
  const notRun = passed === 0 && tests.length === 0 ? 1 : 0;
  return { passed, failed: tests.length - passed + broken.length + notRun };
}
