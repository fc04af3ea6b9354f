import { setTimeout as sleep } from 'node:timers/promises';
import { CepError } from '../../../shared/errors/error.ts';
import type { RestoreReport } from '../../engine/engine.ts';
import type { Intake } from './intake.ts';
import type { PipelineContext } from './pipeline-context.ts';
import type { PipelineRecord } from './pipeline-record.ts';
import type { PipelineSaver } from './pipeline-saver.ts';

/** A thread that others have cost is soon replaced. */
const OPEN_ATTEMPTS_MAX = 5;
const OPEN_AGAIN_MS = 500;

type OpeningContext = Pick<PipelineContext, 'folderOf' | 'strictEvents'>;

export interface OpeningParts {
  readonly intake: Intake;
  readonly saver: PipelineSaver;
  readonly record: PipelineRecord;
}

/** Puts the program of a pipeline on an engine thread, with its last state. */
export class EngineOpening {
  readonly #context: OpeningContext;
  readonly #parts: OpeningParts;

  constructor(context: OpeningContext, parts: OpeningParts) {
    this.#context = context;
    this.#parts = parts;
  }

  /**
   * @param isSuspect It has cost a thread before, so it gets one where it can hold up no other.
   * @returns What became of its last state; null where it has none.
   * @throws CepError `not_ready` when the program itself has cost the thread, and what the program's start says
   */
  async open(isSuspect: boolean): Promise<RestoreReport | null> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#openOnce(isSuspect);
      } catch (error) {
        const isInnocent = isThreadLost(error) && !this.#parts.intake.hungAtOpening;
        if (!isInnocent || attempt === OPEN_ATTEMPTS_MAX) throw error;
        await sleep(OPEN_AGAIN_MS);
      }
    }
  }

  async #openOnce(isSuspect: boolean): Promise<RestoreReport | null> {
    const { folderOf, strictEvents } = this.#context;
    const { intake, saver, record } = this.#parts;
    const { program, tenantId, isWatched = false } = record.definition;
    const state = intake.base.state ?? (await this.#storedState());
    const loaded = { program, folder: folderOf(tenantId), strictEvents, isWatched };
    const { summary, restored } = await intake.open(loaded, { tenantId, isSuspect, state });
    record.describe(summary);
    if (record.storage !== null) intake.forgetState(saver.storedSequence);
    return restored;
  }

  async #storedState(): Promise<Uint8Array | null> {
    const { saver, record } = this.#parts;
    const { id } = record.definition;
    const sequence = saver.storedSequence;
    if (sequence === 0 || record.storage === null) return null;
    const stored = await record.storage.readState(id);
    if (stored?.sequence !== sequence) {
      throw new CepError('storage_unavailable', `the state of pipeline ${id} cannot be read back: expected that of input ${sequence}`);
    }
    return stored.state;
  }
}

/** The thread was replaced while it loaded the program. */
export function isThreadLost(error: unknown): boolean {
  return error instanceof CepError && error.code === 'not_ready';
}
