import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    allowOnly: process.env['CI'] === undefined,
    // Its entry for bundlers imports folders, which Node refuses.
    server: { deps: { inline: ['clipanion'] } },
    testTimeout: 20_000,
  },
});
