import { vi } from 'vitest';
import { testTroubledSinks } from './troubled-sinks.ts';

vi.setConfig({ testTimeout: 300_000, hookTimeout: 60_000 });

testTroubledSinks({ pauseMs: 2_000, cutMs: 500 });
