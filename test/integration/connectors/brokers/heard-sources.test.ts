import { vi } from 'vitest';
import { testHeardSources } from './heard-sources.ts';
import { shortTrouble } from './trouble.ts';

vi.setConfig({ testTimeout: 180_000, hookTimeout: 60_000 });

testHeardSources(shortTrouble);
