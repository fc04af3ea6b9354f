import { defineConfig } from 'vitest/config';

const isCi = process.env['CI'] !== undefined;

/** Tests of real processes, sockets and clocks: on a machine that others use too, one of them may find no processor for a while. */
const withProcesses = ['test/{integration,contract,docs}/**/*.test.ts'];

/** Long forms of suites whose short forms stand beside them: `npm run test:integration`. */
const long = ['test/**/*.long.test.ts'];

export default defineConfig({
  test: {
    allowOnly: !isCi,
    // Its entry for bundlers imports folders, which Node refuses.
    server: { deps: { inline: ['clipanion'] } },
    // Every core: most of a test's time is computing.
    maxWorkers: '100%',
    // Nobody waits for a machine that is slow, and a test that hangs still ends.
    testTimeout: isCi ? 90_000 : 20_000,
    hookTimeout: isCi ? 60_000 : 20_000,
    projects: [
      // They share one copy of the code: what one test needs is loaded, and warm, already.
      {
        extends: true,
        test: {
          name: 'logic',
          include: ['test/**/*.test.ts'],
          exclude: [...withProcesses, ...long],
          isolate: false,
          setupFiles: 'test/random-seed.ts',
        },
      },
      // Of what they compute a quarter was loading the same code anew for each file. A second try, which the report names, is only where
      // nobody can try again by hand.
      {
        extends: true,
        test: {
          name: 'processes',
          include: withProcesses,
          exclude: long,
          isolate: false,
          globalSetup: 'test/integration/build.mjs',
          setupFiles: 'test/integration/end-of-test.ts',
          retry: isCi ? 1 : 0,
        },
      },
      {
        extends: true,
        test: {
          name: 'long',
          include: long,
          globalSetup: 'test/integration/build.mjs',
          setupFiles: 'test/integration/end-of-test.ts',
          testTimeout: 600_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
