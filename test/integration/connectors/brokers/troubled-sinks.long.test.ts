import { vi } from 'vitest';
import { testTroubledSinks } from './troubled-sinks.ts';

vi.setConfig({ testTimeout: 600_000, hookTimeout: 60_000 });

testTroubledSinks({ pauseMs: 30_000, cutMs: 30_000 });
