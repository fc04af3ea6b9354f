import { vi } from 'vitest';
import { testTroubledLookups } from './troubled-lookups.ts';

vi.setConfig({ testTimeout: 300_000, hookTimeout: 60_000 });

testTroubledLookups({ pauseMs: 2_000, cutMs: 500 });
