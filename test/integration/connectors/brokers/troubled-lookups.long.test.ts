import { vi } from 'vitest';
import { testTroubledLookups } from './troubled-lookups.ts';

vi.setConfig({ testTimeout: 600_000, hookTimeout: 60_000 });

testTroubledLookups({ pauseMs: 30_000, cutMs: 30_000 });
