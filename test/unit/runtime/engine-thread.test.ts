import { describe, expect, it } from 'vitest';
import { CepError, InvariantError } from '../../../shared/errors/error.ts';
import { EngineThread } from '../../../worker/runtime/threads/engine-thread.ts';

describe('what a call of an engine thread is refused with', () => {
  const owner = { result: () => undefined, counters: () => undefined, question: () => undefined, lost: () => undefined };

  it('is a mistake of the user with its code, or a defect whose message has no stack', async () => {
    const thread = new EngineThread('thread', 256);
    try {
      const slot = thread.attach(owner);
      const text = (document: string) => new TextEncoder().encode(document);
      const mistake = await thread.call({ kind: 'restore', slot, document: text('{}') }).catch((error: unknown) => error);
      expect(mistake).toBeInstanceOf(CepError);
      expect(mistake).toMatchObject({ code: 'checkpoint_corrupt' });
      const program = { source: 'stream Some = Event.emit()', files: {} };
      const load = {
        kind: 'load',
        slot,
        program,
        folder: { path: '.', refused: [] },
        strictEvents: false,
        isWatched: false,
        state: text('not what was saved'),
      } as const;
      const defect = await thread.call(load).catch((error: unknown) => error);
      expect(defect).toBeInstanceOf(InvariantError);
      expect((defect as Error).message).not.toMatch(/\n|\.m?[jt]s/);
      expect((defect as Error).stack).toMatch(/\n\s+at /);
    } finally {
      await thread.close();
    }
  });
});
