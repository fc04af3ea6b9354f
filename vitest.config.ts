import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    allowOnly: process.env['CI'] === undefined,
    passWithNoTests: true,
    testTimeout: 20_000,
  },
});
