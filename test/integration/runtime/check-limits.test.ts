import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Checker } from '../../../worker/runtime/checking/checker.ts';
import type { Tenant } from '../../../worker/runtime/service.ts';
import { bytesOf, event, outputTexts, type RuntimeUnderTest, startRuntime, TENANT } from './runtime-under-test.ts';

const lines = (count: number, line: (n: number) => string): string => Array.from({ length: count }, (_, n) => line(n + 1)).join('');

/** Programs of a few kilobytes that take all memory, or more time than there is, to be checked or started. */
const killers: Readonly<Record<string, string>> = {
  'loops in loops': 'for a in 0..10000:\n    for b in 0..10000:\n        for c in 0..10000:\n            let x{a}_{b}_{c} = 1\n',
  'strings that double': `let a0 = "abcdefgh"\n${lines(40, (n) => `let a${n} = a${n - 1} + a${n - 1}\n`)}`,
  'a function without an end': `fn spin() -> int:
  var total = 0
  for i in 0..900000:
    total := total + len(0..200)
  return total

let x = ${'spin() + '.repeat(400)}0
`,
  'one long chain': `stream C = S${'.where(v > 1)'.repeat(24_000)}.emit(v: v)\n`,
  'many streams in a row': `stream C0 = S.where(v > 0)\n${lines(6_000, (n) => `stream C${n} = C${n - 1}.where(v > ${n})\n`)}`,
};

/** 400 streams, each merged from the one before and a branch of it. */
const mergesOfMerges = lines(
  16,
  (chain) =>
    `stream A${chain}_0 = S.where(v > 0)\n` +
    lines(25, (n) => `stream A${chain}_${n} = merge(A${chain}_${n - 1}, stream Q${chain}_${n} = A${chain}_${n - 1}.where(v > 0))\n`),
);

const declared = 'event S:\n    v: float\n\n';
const fine = 'stream Big = S.where(v > 10).emit(v: v)\n';

describe('checking a program that takes too much', () => {
  let under: RuntimeUnderTest;
  let attacker: Tenant;
  let neighbour: string;

  beforeAll(async () => {
    under = await startRuntime({ checkBudgetMs: 3_000 });
    attacker = await under.runtime.tenants.create({ name: 'attacker', plan: 'enterprise' });
    neighbour = await under.deploy(declared + fine);
  });
  afterAll(() => under.runtime.shutdown({ deadlineMs: 5_000 }));

  it.each(Object.entries(killers))(
    'ends with an answer that says why, and nobody else notices: %s',
    async (name, program) => {
      const { pipelines } = under.runtime;
      const source = `${declared}${program}stream Out = S.emit(v: v)\n`;
      // What is wrong with it is the answer of the one; the other may find it right, and too much to be started.
      const validated = pipelines
        .validate(attacker.id, { source })
        .catch((error) => expect(error).toMatchObject({ code: 'validation_error' }));
      const deployed = pipelines.deploy(attacker.id, { name, source }).catch((error) => error);
      const [checked, answered] = await Promise.all([
        pipelines.validate(TENANT, { source: declared + fine }),
        pipelines.inject(TENANT, neighbour, { body: bytesOf(event('S', { v: 11 })), format: 'event' }),
      ]);
      expect(checked).toMatchObject({ diagnostics: [] });
      expect(outputTexts(answered)).toEqual(['Big {"v":11}']);
      expect(await deployed).toMatchObject({
        code: expect.stringMatching(/^(validation_error|quota_exceeded)$/),
        message: expect.not.stringMatching(/stack|heap|internal/i),
      });
      await validated;
      expect(under.runtime.scrape().threads.every(({ restarts }) => restarts === 0)).toBe(true);
    },
    60_000,
  );

  it('takes merges of merges, which once doubled with each', async () => {
    const { pipelines } = under.runtime;
    const { pipeline } = await pipelines.deploy(attacker.id, { name: 'merges', source: `${declared}${mergesOfMerges}${fine}` });
    const answered = await pipelines.inject(attacker.id, pipeline.id, { body: bytesOf(event('S', { v: -1 })), format: 'event' });
    expect(outputTexts(answered)).toEqual([]);
  }, 60_000);

  it('says which limit it was, how much that is, and what to do', async () => {
    const hurried = await startRuntime({ checkBudgetMs: 50 });
    const many = lines(2_000, (n) => `stream C${n} = S.where(v > ${n}).emit(v: v * ${n} + ${n})\n`);
    await expect(hurried.runtime.pipelines.validate(TENANT, { source: declared + many })).rejects.toMatchObject({
      message: expect.stringContaining('more than 0.05 s'),
      hint: expect.stringContaining('look at what grows with each line'),
    });
    await hurried.runtime.shutdown({ deadlineMs: 5_000 });
  }, 20_000);

  it('uses up a quota of the tenant that asks for it, in the end', async () => {
    const free = await under.runtime.tenants.create({ name: 'free', plan: 'free' });
    const source = declared + killers['a function without an end'];
    let answer: string;
    let took: number;
    let asked = 0;
    do {
      const began = performance.now();
      answer = await under.runtime.pipelines.validate(free.id, { source }).then(
        () => 'checked',
        (error) => error.code,
      );
      took = performance.now() - began;
      asked++;
    } while (answer !== 'quota_exceeded' && asked < 40);
    expect(answer).toBe('quota_exceeded');
    // Who asks in a loop is slowed down. The timer may be a little early.
    expect(took).toBeGreaterThan(900);
    await expect(under.runtime.pipelines.validate(TENANT, { source: declared + fine })).resolves.toMatchObject({ diagnostics: [] });
  }, 60_000);
});

it('a check that gets no processor is given up at once with the reason, not begun again', async () => {
  const checker = new Checker(60_000, 200);
  try {
    const program = { source: `${killers['a function without an end']}${fine}` };
    const check = checker.check({ program, folder: { path: null, refused: [] }, streamsMax: 1_000 }, () => undefined);
    await expect(check).rejects.toMatchObject({
      code: 'not_ready',
      message: 'the machine is too busy to check the program: it got little processor time within 0.2 s',
      retryAfterSeconds: 60,
    });
  } finally {
    checker.close();
  }
});
