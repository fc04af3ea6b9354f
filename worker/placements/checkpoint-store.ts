import type { Static } from 'typebox';
import { crc32c } from '../../shared/checksum/crc32c.ts';
import { CepError } from '../../shared/errors/error.ts';
import type { checkpointStoredSchema } from '../../shared/protocol/cluster-checkpoints.ts';
import type { manifestSchema } from '../../shared/protocol/placements.ts';
import { FIRST_STATE_FORMAT } from '../engine/state/format.ts';
import { type CoordinatorAnswer, type CoordinatorRequest, NoCoordinator } from '../membership/coordinator-client.ts';
import type { Coordinators } from '../membership/membership.ts';
import type { PipelineCheckpoint, PipelineDefinition, RuntimeStorage } from '../runtime/pipelines/runtime-storage.ts';
import { COMPACT_RECEIPTS_FORMAT } from '../runtime/placed/placed-state.ts';
import { receivedOf } from '../runtime/placed/receipts.ts';
import { seal, unseal } from '../runtime/storage/sealed-value.ts';

export type Manifest = Static<typeof manifestSchema>;
type Stored = Static<typeof checkpointStoredSchema>;

/** 2: with ids of received events that versions before do not read, which would go on without them. */
const VERSION = 2;
const WHOLE_IDS_VERSION = 1;
/** For the bytes of a state, which may be many. */
const TRANSFER_MS = 30_000;

type Head = Omit<PipelineCheckpoint, 'state'> & { readonly version: number };

export interface CheckpointStoreOptions {
  readonly placementId: string;
  readonly coordinators: Coordinators;
  /** Under which the placement is held now. */
  readonly epoch: () => number;
  /** The life whose checkpoints these are has ended: the next one may have begun, under the epoch of now. */
  readonly isOver: () => boolean;
  /** A checkpoint of the pipeline, as it was defined then, is of a program of before. */
  readonly isFormer: (definition: PipelineDefinition) => boolean;
  /** With this checkpoint another program takes the place of the one that runs: whether it counts says which of them goes on. */
  readonly isOfChange: (definition: PipelineDefinition) => boolean;
  /** Resolves when nobody that has not answered has to be asked again, or the life is over. */
  readonly pause: () => Promise<void>;
  /** A checkpoint counts from now on. */
  readonly onCommit: (manifest: Manifest) => void;
  /** The placement has another epoch, or another worker: a heartbeat says which. */
  readonly onStale: () => void;
}

/** The checkpoints of one placement at its coordinators: where everything is that outlives this process. */
export class CheckpointStore implements RuntimeStorage {
  readonly #options: CheckpointStoreOptions;
  #manifest: Manifest | undefined;
  /** The state of the newest one, for engines that are lost here. */
  #last: PipelineCheckpoint | undefined;
  /** Nobody knows whether the last commit counts. */
  #isUncertain = false;

  constructor(options: CheckpointStoreOptions, manifest?: Manifest) {
    this.#options = options;
    this.#manifest = manifest;
  }

  /** The newest checkpoint that counts. */
  get manifest(): Manifest | undefined {
    return this.#manifest;
  }

  get last(): PipelineCheckpoint | undefined {
    return this.#last;
  }

  /**
   * Reads the checkpoint that the placement goes on with. @throws NoCoordinator when nobody answers; CepError `checkpoint_corrupt`,
   * `checkpoint_too_new` when it is not there as it was, and then there is no other
   */
  async restore(signal: AbortSignal): Promise<PipelineCheckpoint | undefined> {
    if (this.#manifest === undefined) return undefined;
    const { epoch, sequence, checksum } = this.#manifest;
    const request = { method: 'GET', path: this.#path(`/${epoch}/${sequence}`), deadlineMs: TRANSFER_MS, signal } as const;
    const answer = await this.#options.coordinators.ask(request);
    if (answer.status !== 200) throw corrupt(`the coordinators do not give it: ${answer.message ?? answer.status}`);
    if (crc32c(answer.bytes) !== checksum) throw corrupt('its bytes are not those that were committed');
    this.#last = checkpointIn(answer.bytes);
    return this.#last;
  }

  /** Without a checkpoint there is nothing to keep: the coordinators have the definition. @throws CepError `storage_unavailable`, `pipeline_not_running` */
  async savePipeline(definition: PipelineDefinition, checkpoint: PipelineCheckpoint | null): Promise<void> {
    if (checkpoint === null) return;
    try {
      if (this.#isUncertain) await this.#lookUp();
      this.#requireLife();
      const manifest = await this.#upload(checkpoint, definition);
      this.#manifest = manifest;
      this.#last = checkpoint;
      this.#options.onCommit(manifest);
    } catch (error) {
      if (!(error instanceof NoCoordinator)) throw error;
      throw new CepError('storage_unavailable', `no coordinator takes the checkpoint: ${error.message}`, {
        retryAfterSeconds: 1,
        cause: error,
      });
    }
  }

  async #upload(checkpoint: PipelineCheckpoint, definition: PipelineDefinition): Promise<Manifest> {
    const { coordinators, epoch: held, isFormer, isOfChange } = this.#options;
    const former = isFormer(definition) && { is_former: true };
    const { state, ...rest } = checkpoint;
    const body = seal({ version: versionOf(checkpoint), ...rest } satisfies Head, state);
    const [epoch, sequence, checksum] = [held(), (this.#manifest?.sequence ?? 0) + 1, crc32c(body)];
    const path = this.#path(`/${epoch}/${sequence}`);
    const put = { method: 'PUT', path: `${path}?checksum=${checksum}`, body, deadlineMs: TRANSFER_MS } as const;
    const { locations } = this.#taken<Stored>(await coordinators.ask(put), epoch);
    this.#requireLife();
    const received = receivedOf(checkpoint.sources ?? {});
    const commit = { bytes: body.byteLength, checksum, locations, received };
    this.#isUncertain = true;
    const manifest = { sequence, epoch, ...commit };
    const request = { method: 'POST', path: `${path}/commit`, body: { ...commit, ...former } } as const;
    const answer = isOfChange(definition) ? await this.#answered(request, manifest) : await coordinators.ask(request);
    if (answer === 'counts') return manifest;
    this.#isUncertain = answer.code === 'transition_refused';
    this.#taken(answer, epoch);
    return manifest;
  }

  /** Asks until there is an answer. One that refuses what was asked before, without an answer, says nothing of that. */
  async #answered(request: CoordinatorRequest, { sequence, checksum }: Manifest): Promise<CoordinatorAnswer | 'counts'> {
    const { coordinators, pause } = this.#options;
    for (let tries = 1; ; tries++) {
      try {
        const answer = await coordinators.ask(request);
        if (tries === 1 || answer.status < 300) return answer;
        await this.#lookUp();
        return this.#manifest?.sequence === sequence && this.#manifest.checksum === checksum ? 'counts' : answer;
      } catch (error) {
        if (!(error instanceof NoCoordinator)) throw error;
        await pause();
        this.#requireLife();
      }
    }
  }

  #requireLife(): void {
    if (this.#options.isOver()) throw new CepError('pipeline_not_running', 'the pipeline has stopped: its state is not kept any more');
  }

  /** What became of a commit without an answer. */
  async #lookUp(): Promise<void> {
    const answer = await this.#options.coordinators.ask({ method: 'GET', path: `${this.#path('')}?consistency=strong` });
    if (answer.status === 200) this.#manifest = JSON.parse(answer.bytes.toString('utf8')) as Manifest;
    else if (answer.status !== 404) this.#taken(answer, this.#options.epoch());
    this.#isUncertain = false;
  }

  /** @param epoch Under which it was asked for. */
  #taken<T>({ status, bytes, code, message = `the answer was ${status}` }: CoordinatorAnswer, epoch: number): T {
    if (status < 300) return JSON.parse(bytes.toString('utf8')) as T;
    // A change of its group gives it another epoch, of which this worker may not have heard yet: then the next checkpoint is under that.
    if (code === 'stale_epoch' && epoch === this.#options.epoch()) this.#options.onStale();
    throw new CepError('storage_unavailable', `the coordinators refuse the checkpoint: ${message}`, { retryAfterSeconds: 1 });
  }

  #path(rest: string): string {
    return `/checkpoints/${encodeURIComponent(this.#options.placementId)}${rest}`;
  }

  async readState(): Promise<PipelineCheckpoint | undefined> {
    return this.#last;
  }

  /** What came in is kept by who sent it. */
  append(): Promise<void> {
    return Promise.resolve();
  }

  /** Ticks come again by themselves. */
  saveIdle(): Promise<void> {
    return Promise.resolve();
  }

  /** Only the coordinators say when it is gone. */
  deletePipeline(): Promise<void> {
    return Promise.resolve();
  }
}

/** The earliest that reads it. */
function versionOf({ stateFormat = FIRST_STATE_FORMAT }: PipelineCheckpoint): number {
  return stateFormat < COMPACT_RECEIPTS_FORMAT ? WHOLE_IDS_VERSION : VERSION;
}

function checkpointIn(bytes: Uint8Array): PipelineCheckpoint {
  const { head, body } = unseal<Head>(bytes) ?? { head: undefined, body: undefined };
  if (head === undefined) throw corrupt('it cannot be read');
  if (head.version > VERSION) {
    throw new CepError('checkpoint_too_new', `the checkpoint has version ${head.version}, this worker reads up to ${VERSION}`);
  }
  const { version: _version, ...rest } = head;
  return { ...rest, state: body };
}

function corrupt(reason: string): CepError {
  return new CepError('checkpoint_corrupt', `the checkpoint of the placement cannot be restored: ${reason}`);
}
