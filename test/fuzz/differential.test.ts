import fc from 'fast-check';
import { expect, test } from 'vitest';
import { check } from '../../shared/language/checker/check.ts';
import { SourceText } from '../../shared/language/diagnostics/diagnostic.ts';
import { expectAlike } from '../reference/seen.ts';
import { events } from './events.ts';
import { program } from './programs.ts';
import { Tape } from './tape.ts';

/** `FUZZ_SEED=random FUZZ_PROGRAMS=20000 npx vitest run test/fuzz` is the long run. */
const programs = Number(process.env['FUZZ_PROGRAMS'] ?? 250);

const tapes = fc.tuple(fc.uint16Array({ maxLength: 260, size: 'max' }), fc.uint16Array({ minLength: 40, maxLength: 400, size: 'max' }));

test('random programs give the same bytes in every way of running them, and restored at any point', { timeout: 3_600_000 }, () => {
  let valid = 0;
  let effects = 0;
  const property = fc.property(tapes, fc.nat(40), ([programTape, eventTape], cut) => {
    const text = program(new Tape(programTape));
    const { plan } = check(new SourceText('random.vpl', text));
    if (plan === null) return;
    valid++;
    const input = events(new Tape(eventTape), 40);
    effects += expectAlike(plan, input, { cuts: [cut], text }).length;
  });
  fc.assert(property, { numRuns: programs });
  expect(valid, 'most random programs are programs').toBeGreaterThan(programs * 0.5);
  expect(effects, 'and they do something').toBeGreaterThan(programs);
});
