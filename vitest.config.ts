import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    allowOnly: process.env['CI'] === undefined,
    // Its entry for bundlers imports folders, which Node refuses.
    server: { deps: { inline: ['clipanion'] } },
    // Every core: most of a test's time is computing.
    maxWorkers: '100%',
    testTimeout: 20_000,
  },
});
