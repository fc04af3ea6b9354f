import { expect, it } from 'vitest';
import { limits } from '../../../shared/limits.ts';
import { CreatedAnswers, type SealedAnswer } from '../../../worker/runtime/created-answers.ts';

const quarter = limits.idempotencyBytesMax / 4;

/** Answers upon a storage of their own, and how often what is asked for was done. */
class Kept {
  readonly stored = new Map<string, SealedAnswer>();
  done = 0;
  readonly #answers: CreatedAnswers;

  constructor(hasStorage: boolean) {
    const storage = {
      saveAnswer: async (answer: SealedAnswer) => void this.stored.set(answer.id, answer),
      deleteAnswers: async (ids: readonly string[]) => {
        for (const id of ids) this.stored.delete(id);
      },
    };
    this.#answers = new CreatedAnswers({
      storage: hasStorage ? storage : null,
      apiKey: 'k',
      elapsedMs: () => 0,
      report: () => undefined,
    });
  }

  async ask(key: string, chars: number): Promise<void> {
    await this.#answers.once({ tenant: 't', key, digest: 'd' }, async () => {
      this.done++;
      return 'x'.repeat(chars);
    });
  }
}

it('answers are kept in memory as long as they are not too much text together', async () => {
  const kept = new Kept(false);
  for (const key of ['a', 'b', 'c', 'd', 'e']) await kept.ask(key, quarter);
  await kept.ask('e', 0);
  expect(kept.done).toBe(5);
  await kept.ask('a', 0);
  expect(kept.done).toBe(6);
});

it('answers are kept on disk as long as they are not too much text together, and none that is by itself', async () => {
  const kept = new Kept(true);
  for (const key of ['a', 'b', 'c', 'd']) await kept.ask(key, quarter);
  expect(kept.stored.size).toBe(2);
  await kept.ask('large', limits.idempotencyBytesMax);
  expect(kept.stored.size).toBe(0);
  await kept.ask('small', 10);
  expect(kept.stored.size).toBe(1);
});
