import type { PipelineReplica } from '../../connectors/sources/replica.ts';
import type { RuntimeStorage, SourceMark, SourcePositions } from '../pipelines/runtime-storage.ts';
import type { Output } from '../service.ts';
import type { ContentIds } from './content-ids.ts';
import type { PlacedState } from './placed-state.ts';

/** What a pipeline has that runs here for a cluster: where it keeps its state, and what it may do at the moment. */
export interface Placing {
  /** Where its checkpoints go; nothing else is kept. */
  readonly storage: RuntimeStorage;
  readonly ids: ContentIds;
  /** Whether it may say anything to the outside now: asked before each word. */
  readonly mayDeliver: () => boolean;
  /** Whether what it says now has to wait until a checkpoint has it. */
  readonly isHeld: () => boolean;
  /** Epoch ms: the time at which what its sources read arrives. */
  readonly now: () => number;
  /** The time of a tick of the clock, epoch ms; undefined while it may have none. */
  readonly tickTime: () => number | undefined;
  /** Takes each output, in order. While it wants them none may be left out. */
  readonly outputs: { readonly push: (output: Output) => void; readonly isFull: () => boolean; readonly isWanted: () => boolean };
  /** The input of this number would not come again as it came, to whoever goes on from a checkpoint that lacks it. */
  readonly unlike: (sequence: number) => void;
  /** Something is about to be said. */
  readonly speaks: () => void;
  /** Resolves when the source may go on; where it tells the other side what was taken, when whoever goes on elsewhere has that. */
  readonly taken: (mark: SourceMark, isTold: boolean) => Promise<void>;
  /** Resolves when whoever goes on elsewhere has everything that was taken. @throws CepError when the pipeline has ended before */
  readonly safe: () => Promise<void>;
  /** The replica that it is; undefined where the pipeline is one. */
  readonly replica: () => PipelineReplica | undefined;
  /** Which states are saved in now: one that every worker reads that may go on with them. */
  readonly stateFormat: () => number;
  /** Of the state in which sources stand so, in the format that the state is saved in. */
  readonly save: (positions: SourcePositions, stateFormat: number) => PlacedState;
}
