import type { EnginePool } from './engine-pool.ts';
import type { EngineThread, SlotOwner } from './engine-thread.ts';
import type { LoadCall, LoadReply } from './messages.ts';

/** What an engine is made of besides its state. */
export type LoadedProgram = Omit<LoadCall, 'kind' | 'id' | 'slot' | 'state'>;

/** The place of an engine on a thread. */
export interface EnginePlace {
  readonly thread: EngineThread;
  readonly slot: number;
}

/**
 * The engine of a program on its thread, without a state, for a pipeline that is about to come: what takes time and needs no state is done.
 * It is taken over once, or left.
 */
export class WarmEngine {
  readonly #program: LoadedProgram;
  #place: EnginePlace | undefined;

  private constructor(program: LoadedProgram, place: EnginePlace) {
    this.#program = program;
    this.#place = place;
  }

  /** @throws CepError when the program does not start */
  static async open(pool: EnginePool, tenantId: string, program: LoadedProgram): Promise<WarmEngine> {
    const thread = pool.place({ tenantId, isSuspect: false });
    const waiting: SlotOwner = {
      result: () => undefined,
      counters: () => undefined,
      question: (_question, answer) => answer({ problem: 'the pipeline does not run yet' }),
      lost: () => {
        warm.#place = undefined;
      },
    };
    const slot = thread.attach(waiting);
    const warm = new WarmEngine(program, { thread, slot });
    try {
      await thread.call<LoadReply>({ kind: 'load', slot, state: null, ...program });
    } catch (error) {
      warm.leave();
      throw error;
    }
    return warm;
  }

  /** From here on it is the owner's; undefined when it is gone, or of another program. */
  take(owner: SlotOwner, { program, strictEvents, isWatched }: LoadedProgram): EnginePlace | undefined {
    const own = this.#program;
    if (own.program !== program || own.strictEvents !== strictEvents || own.isWatched !== isWatched) return undefined;
    const place = this.#place;
    this.#place = undefined;
    place?.thread.handOver(place.slot, owner);
    return place;
  }

  /** Nobody will take it over. */
  leave(): void {
    this.#place?.thread.detach(this.#place.slot);
    this.#place = undefined;
  }
}
