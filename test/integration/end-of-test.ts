import { afterAll, afterEach } from 'vitest';
import { endServing, removeFolder } from './server/serving.ts';

// Runs again for each test file, where a module that files share runs once.
afterEach(endServing);
afterAll(removeFolder);
