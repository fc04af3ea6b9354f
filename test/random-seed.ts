import fc from 'fast-check';

/**
 * Where the randomness of property tests begins. Each run of `npm test` tries the same cases, so that a change is judged by what it
 * changes. `FUZZ_SEED=random` tries new ones (a failure names its seed), `FUZZ_SEED=-12` repeats those of a seed.
 */
const seed = process.env['FUZZ_SEED'] ?? '261125';
if (seed !== 'random') fc.configureGlobal({ seed: Number(seed) });
