import type { CepError } from '../../../../shared/errors/error.ts';
import { CepError as Problem } from '../../../../shared/errors/error.ts';
import type { ReceivedBody } from '../../../../worker/runtime/pipelines/pipeline-events.ts';
import type { PipelineCheckpoint, SourcePositions } from '../../../../worker/runtime/pipelines/runtime-storage.ts';
import type {
  CheckedProgram,
  PlacedPipeline,
  PlacementHost,
  PlaceRequest,
  WarmProgram,
} from '../../../../worker/runtime/placed/placement-host.ts';
import { markOf, type Receipt, receivedOf } from '../../../../worker/runtime/placed/receipts.ts';
import type { InjectResult, PipelineStatus } from '../../../../worker/runtime/service.ts';

const counts = { eventsProcessed: 0, outputEventsEmitted: 0, eventsInvalid: 0, eventsRefused: 0 };
const nothing = { accepted: 1, rejected: 0, errors: [], outputs: [], outputCount: 0, processingTimeUs: 1, notes: null, repeated: false };

/** The least that an engine is to a placement: its state is the list of batches that it has seen. */
export class SimulatedPipeline {
  readonly id: string;
  readonly request: PlaceRequest;
  readonly seen: number[];
  status: PipelineStatus = 'running';
  isAbandoned = false;
  readonly #workThrough: () => Promise<void>;
  #positions: SourcePositions;

  /** @param workThrough Resolves when what was accepted is through, and sinks have what they take. */
  constructor(request: PlaceRequest, workThrough: () => Promise<void> = async () => undefined) {
    this.id = request.id;
    this.request = request;
    this.#workThrough = workThrough;
    const { state, sources = {} } = request.checkpoint ?? {};
    this.seen = state === undefined ? [] : (JSON.parse(Buffer.from(state).toString()) as number[]);
    this.#positions = sources;
  }

  /** It may say something to the outside. */
  get isOpen(): boolean {
    const { mayDeliver, isHeld } = this.request.placing;
    return !this.isAbandoned && (this.status === 'running' || this.status === 'draining') && mayDeliver() && !isHeld();
  }

  get received(): Readonly<Record<string, number>> {
    return receivedOf(this.#positions);
  }

  view(): { readonly error?: string } {
    return this.status === 'failed' ? { error: 'it broke' } : {};
  }

  async receive(_body: ReceivedBody, receipt: () => Receipt): Promise<InjectResult> {
    if (this.status !== 'running') throw new Problem('pipeline_not_running', `it is ${this.status}`);
    const taken = receipt();
    const { id, position } = markOf(taken);
    this.#positions = { ...this.#positions, [id]: position };
    this.seen.push(taken.sequence);
    return nothing;
  }

  async saveNow(): Promise<boolean> {
    const { placing } = this.request;
    const checkpoint: PipelineCheckpoint = {
      ...{ sequence: this.seen.length, state: Buffer.from(JSON.stringify(this.seen)), savedAt: 0, counts, answers: [] },
      ...{ deliveries: { sinks: [], letters: [] }, sources: this.#positions, placed: placing.save(this.#positions, placing.stateFormat()) },
    };
    try {
      await placing.storage.savePipeline({} as never, checkpoint);
      return true;
    } catch {
      return false;
    }
  }

  async close(silence: () => void | Promise<void>): Promise<boolean> {
    if (this.status !== 'running') return this.status === 'stopped';
    this.status = 'draining';
    await this.#workThrough();
    await silence();
    const isSaved = !this.isAbandoned && (await this.saveNow());
    this.status = 'stopped';
    return isSaved;
  }

  async start(): Promise<void> {
    if (this.status === 'failed') throw new Problem('pipeline_not_running', 'it broke');
    this.status = 'running';
  }

  outputsChanged(): void {
    // It has no outputs.
  }

  metrics(): Promise<never> {
    return new Promise(() => undefined);
  }
}

/** Where the pipelines of one process run. */
export class SimulatedHost implements PlacementHost {
  readonly pipelines = new Set<SimulatedPipeline>();
  /** Engines that nobody has come for yet. */
  readonly warmed = new Set<object>();
  readonly #workThrough: () => Promise<void>;
  /** No program can run here. */
  refuses = false;

  /** @param workThrough Of each pipeline that stops. */
  constructor(workThrough: () => Promise<void> = async () => undefined) {
    this.#workThrough = workThrough;
  }

  prepare(): void {
    // Programs need no checking here.
  }

  async check(): Promise<CheckedProgram> {
    return {} as CheckedProgram;
  }

  async warm(): Promise<WarmProgram> {
    if (this.refuses) throw new Problem('validation_error', 'it does not run here');
    const engine = { leave: () => void this.warmed.delete(engine) };
    this.warmed.add(engine);
    return { program: {} as CheckedProgram, engine: engine as unknown as WarmProgram['engine'] };
  }

  async place(request: PlaceRequest): Promise<PlacedPipeline> {
    const pipeline = new SimulatedPipeline(request, this.#workThrough);
    this.pipelines.add(pipeline);
    return pipeline as unknown as PlacedPipeline;
  }

  async replace(): Promise<void> {
    // Any program does the same here.
  }

  abandon(pipeline: PlacedPipeline, _reason: CepError): void {
    const gone = pipeline as unknown as SimulatedPipeline;
    gone.isAbandoned = true;
    this.pipelines.delete(gone);
  }
}
