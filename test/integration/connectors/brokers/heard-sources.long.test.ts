import { vi } from 'vitest';
import { testHeardSources } from './heard-sources.ts';
import { longTrouble } from './trouble.ts';

vi.setConfig({ testTimeout: 600_000, hookTimeout: 60_000 });

testHeardSources(longTrouble);
