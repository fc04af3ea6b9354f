import type { CepError } from '../../../../shared/errors/error.ts';
import { CepError as Problem } from '../../../../shared/errors/error.ts';
import type { ReceivedBody } from '../../../../worker/runtime/pipelines/pipeline-events.ts';
import type { Leaving } from '../../../../worker/runtime/pipelines/pipeline-life.ts';
import type { PipelineCheckpoint, PipelineDefinition, SourcePositions } from '../../../../worker/runtime/pipelines/runtime-storage.ts';
import type {
  CheckedProgram,
  PlacedPipeline,
  PlacementHost,
  PlaceRequest,
  WarmProgram,
} from '../../../../worker/runtime/placed/placement-host.ts';
import { markOf, type Receipt, receivedOf } from '../../../../worker/runtime/placed/receipts.ts';
import type { SentProgram } from '../../../../worker/runtime/programs/sent-program.ts';
import type { InjectResult, PipelineStatus } from '../../../../worker/runtime/service.ts';

const counts = { eventsProcessed: 0, outputEventsEmitted: 0, eventsInvalid: 0, eventsRefused: 0 };
const nothing = { accepted: 1, rejected: 0, errors: [], outputs: [], outputCount: 0, processingTimeUs: 1, notes: null, repeated: false };

/** A batch that a program has worked. */
export interface Worked {
  readonly pipelineId: string;
  /** Of the placement, where that was told. */
  readonly createdIndex: number | undefined;
  readonly sequence: number;
  readonly program: string;
}

/** The least that an engine is to a placement: its state is the list of batches that it has seen. */
export class SimulatedPipeline {
  readonly id: string;
  readonly request: PlaceRequest;
  readonly seen: number[];
  /** The programs that it has had, the last one last. */
  readonly programs: string[];
  status: PipelineStatus = 'running';
  isAbandoned = false;
  readonly #workThrough: () => Promise<void>;
  readonly #worked: Worked[];
  #changing: Promise<unknown> | undefined;
  #positions: SourcePositions;

  /** @param workThrough Resolves when what was accepted is through, and sinks have what they take. */
  constructor(request: PlaceRequest, workThrough: () => Promise<void> = async () => undefined, worked: Worked[] = []) {
    this.#worked = worked;
    this.id = request.id;
    this.programs = [request.program?.text?.source ?? ''];
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

  get definition(): PipelineDefinition {
    return { version: this.programs.length } as PipelineDefinition;
  }

  view(): { readonly error?: string } {
    return this.status === 'failed' ? { error: 'it broke' } : {};
  }

  async receive(_body: ReceivedBody, receipt: () => Receipt): Promise<InjectResult> {
    if (this.status !== 'running') throw new Problem('pipeline_not_running', `it is ${this.status}`);
    const taken = receipt();
    await this.#changing;
    if (this.isAbandoned) throw new Problem('pipeline_not_running', 'it was abandoned');
    const { id, position } = markOf(taken);
    this.#positions = { ...this.#positions, [id]: position };
    this.seen.push(taken.sequence);
    const createdIndex = this.request.placing?.ids?.createdIndex;
    this.#worked.push({ pipelineId: this.id, createdIndex, sequence: taken.sequence, program: this.programs.at(-1) as string });
    return nothing;
  }

  /** With a checkpoint, or not at all. What comes meanwhile is worked after it. */
  async change({ source }: SentProgram): Promise<void> {
    const saving = this.saveNow({ version: this.definition.version + 1 } as PipelineDefinition).then((isSaved) => {
      if (isSaved) this.programs.push(source);
      return isSaved;
    });
    this.#changing = saving;
    if (!(await saving)) throw new Problem('storage_unavailable', 'it is not kept');
  }

  async saveNow(definition = this.definition): Promise<boolean> {
    const { placing } = this.request;
    const checkpoint: PipelineCheckpoint = {
      ...{ sequence: this.seen.length, state: Buffer.from(JSON.stringify(this.seen)), savedAt: 0, counts, answers: [] },
      ...{ deliveries: { sinks: [], letters: [] }, sources: this.#positions, placed: placing.save(this.#positions, placing.stateFormat()) },
    };
    try {
      await placing.storage.savePipeline(definition, checkpoint);
      return true;
    } catch {
      return false;
    }
  }

  async close(silence: () => void | Promise<void>, leaving?: Leaving): Promise<boolean> {
    if (this.status !== 'running') return this.status === 'stopped';
    this.status = 'draining';
    const stays = new Promise<void>((resolve) => leaving?.stays.addEventListener('abort', () => resolve()));
    await Promise.race([this.#workThrough(), stays]);
    if (!leaving?.stays.aborted) await silence();
    const isSaved = !this.isAbandoned && (await this.saveNow());
    this.status = 'stopped';
    return isSaved;
  }

  async start(): Promise<void> {
    if (this.status === 'failed') throw new Problem('pipeline_not_running', 'it broke');
    this.status = 'running';
  }

  async caughtUp(): Promise<void> {
    // It has no sources.
  }

  async bury(): Promise<void> {
    // It has no sinks.
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
  /** Every batch that came to one of them, in their order. */
  readonly worked: Worked[] = [];
  /** Engines that nobody has come for yet. */
  readonly warmed = new Set<object>();
  readonly #workThrough: () => Promise<void>;
  /** No program can run here. */
  refuses = false;
  /** Resolves when a program has taken the place of another. It does then, with a checkpoint. */
  replacing: (program: SentProgram) => Promise<void> = async () => undefined;

  /** @param workThrough Of each pipeline that stops. */
  constructor(workThrough: () => Promise<void> = async () => undefined) {
    this.#workThrough = workThrough;
  }

  prepare(): void {
    // Programs need no checking here.
  }

  async check(text: SentProgram): Promise<CheckedProgram> {
    return { text } as unknown as CheckedProgram;
  }

  async warm(program: SentProgram): Promise<WarmProgram> {
    if (this.refuses) throw new Problem('validation_error', 'it does not run here');
    const engine = { leave: () => void this.warmed.delete(engine) };
    this.warmed.add(engine);
    return { program: await this.check(program), engine: engine as unknown as WarmProgram['engine'] };
  }

  async place(request: PlaceRequest): Promise<PlacedPipeline> {
    const pipeline = new SimulatedPipeline(request, this.#workThrough, this.worked);
    this.pipelines.add(pipeline);
    return pipeline as unknown as PlacedPipeline;
  }

  async replace(pipeline: PlacedPipeline, program: SentProgram): Promise<void> {
    await this.replacing(program);
    await (pipeline as unknown as SimulatedPipeline).change(program);
  }

  abandon(pipeline: PlacedPipeline, _reason: CepError): void {
    const gone = pipeline as unknown as SimulatedPipeline;
    gone.isAbandoned = true;
    this.pipelines.delete(gone);
  }
}
