import { setTimeout as sleep } from 'node:timers/promises';
import { CepError } from '../../../shared/errors/error.ts';
import type { EventDeclaration } from '../../../shared/events/schema.ts';
import type { ConnectorEnvironment, ConnectorSettings, Source, SourcePosition, SourceSettings } from '../connector.ts';
import type { DeadLetters } from '../delivery/dead-letters.ts';
import { redactorOf, settingsText } from '../parameters.ts';
import { withProfile } from '../profiles.ts';
import { openSource, withUse } from '../registry.ts';
import { requireDistinctClients } from './distinct-clients.ts';
import { isDivided, OwnShare, type PipelineReplica, readingOf, settingsOfReplica } from './replica.ts';
import { SourceRunner, type SourceRunnerOptions, type SourceStatus } from './source-runner.ts';

/** How long a source has to give nothing for it to be read up to what there is, how often that is looked at, and for how long at most. */
const QUIET_MS = 500;
const QUIET_LOOK_MS = 50;
const CATCH_UP_MS_MAX = 3_000;

/** A `.from` of a program. */
export interface SourceUse {
  /** The subscription, as the plan names it. */
  readonly id: string;
  readonly connector: string;
  /** As `encodeValue` stores them. */
  readonly parameters: readonly (readonly [string, unknown])[];
  readonly eventTypes: readonly string[];
  /** Fields of these that are texts. */
  readonly textFields: readonly string[];
  /** Fields that these declare. @default one of them is not declared, and may have any */
  readonly declaredFields?: readonly string[];
  /** Of a file: all event types that the program declares. @default it is no file */
  readonly declarations?: readonly EventDeclaration[];
}

export interface PipelineSourcesOptions {
  readonly pipelineId: string;
  readonly environment: ConnectorEnvironment;
  readonly deadLetters: DeadLetters;
  readonly onLetter: SourceRunnerOptions['onLetter'];
  readonly report: SourceRunnerOptions['report'];
  readonly feed: SourceRunnerOptions['feed'];
  readonly safe: SourceRunnerOptions['safe'];
  /** Behind what was taken of a subscription. */
  readonly position: (id: string) => SourcePosition | null;
  readonly onChange: () => void;
  /** The replica that they read for; undefined where the pipeline is one. Asked when sources are configured. */
  readonly replica?: (() => PipelineReplica | undefined) | undefined;
  /** Nothing is read before it resolves. */
  readonly ready: Promise<void>;
}

/** An epoch that has gone on is no change: whoever reads goes on. */
function isSame(one: SourceSettings, other: SourceSettings): boolean {
  const isSameReplica = one.replica?.index === other.replica?.index && one.replica?.count === other.replica?.count;
  return isSameReplica && settingsText(one) === settingsText(other) && JSON.stringify(one.events) === JSON.stringify(other.events);
}

/** A connector as a pipeline reads it. @throws CepError `connector_error` */
export function settingsOfUse(
  { id, parameters, eventTypes, textFields, declaredFields, declarations }: SourceUse,
  declared: ConnectorSettings,
  reader: Pick<PipelineSourcesOptions, 'environment' | 'pipelineId'> & { readonly replica?: PipelineReplica | undefined },
): SourceSettings {
  const { environment, pipelineId, replica } = reader;
  const settings = withUse(withProfile(declared, environment), parameters);
  const own = {
    ...settingsOfReplica(settings, replica?.index ?? 0),
    subscription: `${pipelineId}-${id}`,
    textFields,
    ...(declaredFields && { declaredFields }),
    ...(declarations && { events: { declarations, type: eventTypes.length === 1 ? eventTypes[0] : undefined } }),
  };
  return replica === undefined ? own : { ...own, replica: readingOf(replica, id) };
}

/** The sources of one pipeline: what its program reads with `.from`. */
export class PipelineSources {
  readonly #options: PipelineSourcesOptions;
  #runners = new Map<string, SourceRunner>();
  /** Of a subscription, when those that were replaced have taken what they had: whoever comes after them goes on behind it. */
  readonly #ending = new Map<string, Promise<unknown>>();
  /** Those of the program that were ended with it. */
  #stopped: readonly SourceRunner[] = [];
  /** Of what no broker divides. */
  readonly #share: OwnShare;
  #isStarted = false;
  /** Started, and reading may begin. */
  #isReading = false;
  /** Of the program; it may change while a source reads. */
  #messagesMax: number | undefined;
  /** What those that were closed have dropped: counts only grow. */
  readonly #droppedBefore = new Map<string, number>();

  constructor(options: PipelineSourcesOptions) {
    this.#options = options;
    this.#share = new OwnShare(options.replica?.());
  }

  /** @throws CepError `connector_error` when `configure` would */
  check(connectors: readonly ConnectorSettings[], uses: readonly SourceUse[]): void {
    const declared = new Map(connectors.map((settings) => [settings.name, settings]));
    const all = uses.map((use) => this.#settingsOf(use, declared.get(use.connector)));
    for (const settings of all) void openSource(settings, this.#options.environment).close();
    requireDistinctClients(all);
  }

  /**
   * The subscriptions of the program. Those whose settings did not change go on as they are; others are closed. `messagesMax`: as
   * `SourceSettings` has it, of all. @throws CepError `connector_error`; nothing has changed then
   */
  configure(connectors: readonly ConnectorSettings[], uses: readonly SourceUse[], messagesMax?: number): void {
    const declared = new Map(connectors.map((settings) => [settings.name, settings]));
    const next = new Map<string, SourceRunner>();
    for (const use of uses) {
      const settings = this.#settingsOf(use, declared.get(use.connector));
      const known = this.#runners.get(use.id);
      const isAsBefore = known !== undefined && isSame(known.settings, settings);
      next.set(use.id, isAsBefore ? known : this.#runner(use, settings, openSource(settings, this.#options.environment)));
    }
    const before = this.#runners;
    this.#runners = next;
    this.#share.change(this.#options.replica?.());
    this.#messagesMax = messagesMax;
    this.#stopped = [];
    for (const [id, runner] of before) if (next.get(id) !== runner) this.#end(id, runner);
    if (!this.#isReading) return;
    for (const [id, runner] of next) if (before.get(id) !== runner) void this.#begin(id, runner);
  }

  #end(id: string, runner: SourceRunner): void {
    const ending = Promise.all([this.#ending.get(id), this.#close(runner).then(() => runner.settled())]).finally(() => {
      if (this.#ending.get(id) === ending) this.#ending.delete(id);
    });
    this.#ending.set(id, ending);
  }

  async #begin(id: string, runner: SourceRunner): Promise<void> {
    if (this.#ending.has(id)) await this.#ending.get(id);
    if (this.#isReading && this.#runners.get(id) === runner) runner.start();
  }

  #settingsOf(use: SourceUse, declared: ConnectorSettings | undefined): SourceSettings {
    if (declared === undefined) throw new CepError('connector_error', `connector '${use.connector}' is not declared by the program`);
    const { environment, pipelineId, replica } = this.#options;
    const settings = settingsOfUse(use, declared, { environment, pipelineId, replica: replica?.() });
    return { ...settings, messagesMax: () => this.#messagesMax };
  }

  #runner({ id, eventTypes }: SourceUse, settings: SourceSettings, source: Source): SourceRunner {
    const { pipelineId, deadLetters, onLetter, report, feed, safe, position, onChange } = this.#options;
    const redact = redactorOf(settings);
    const share = isDivided(settings) ? undefined : this.#share;
    const common = { pipelineId, id, settings, eventTypes, source, feed, safe, deadLetters, onLetter, report, onChange, redact, share };
    return new SourceRunner({ ...common, position: () => position(id) });
  }

  /** Begins to read, once reading may begin. */
  async start(): Promise<void> {
    if (this.#isStarted) return;
    this.#isStarted = true;
    await this.#options.ready;
    if (!this.#isStarted || this.#isReading) return;
    this.#isReading = true;
    for (const [id, runner] of this.#runners) void this.#begin(id, runner);
  }

  /** What takes requests that name this connector and topic, also while nothing is read; undefined where the program has no such. */
  webhook(connector: string, topic: string | null): SourceRunner | undefined {
    const isMeant = ({ settings, webhook }: SourceRunner): boolean =>
      webhook !== undefined && settings.name === connector && settings.topic === topic;
    return [...this.#runners.values(), ...this.#stopped].find(isMeant);
  }

  /** Ends reading. What was handed over and is not safe yet comes again after the next start. */
  async stop(): Promise<void> {
    this.#isStarted = false;
    this.#isReading = false;
    const runners = [...this.#runners.values()];
    if (runners.length === 0) return; // Those that were ended before stay known.
    this.#runners = new Map();
    this.#stopped = runners;
    await Promise.all(runners.map((runner) => this.#close(runner)));
  }

  /**
   * Resolves when sources that several replicas read by themselves have given nothing for a moment: what is there has been read then, as far
   * as can be told. It resolves as well when that takes too long, as where there is always something.
   */
  async caughtUp(): Promise<void> {
    const end = performance.now() + CATCH_UP_MS_MAX;
    let [received, since] = [-1, performance.now()];
    while (this.#isReading && this.#readByAll.length > 0 && performance.now() < Math.min(end, since + QUIET_MS)) {
      const now = this.#readByAll.reduce((sum, { status }) => sum + status.received, 0);
      if (now !== received || this.#readByAll.some(({ isTaking }) => isTaking)) [received, since] = [now, performance.now()];
      await sleep(QUIET_LOOK_MS);
    }
  }

  /** Sources that no broker divides. */
  get #readByAll(): readonly SourceRunner[] {
    return [...this.#runners.values()].filter(({ settings, webhook }) => webhook === undefined && !isDivided(settings));
  }

  async #close(runner: SourceRunner): Promise<void> {
    await runner.close();
    const { id, dropped } = runner.status;
    this.#droppedBefore.set(id, (this.#droppedBefore.get(id) ?? 0) + dropped);
  }

  /** Those that cannot be reached, each with the reason. */
  get problems(): readonly SourceStatus[] {
    return this.status().filter(({ problem }) => problem !== null);
  }

  status(): readonly SourceStatus[] {
    return Array.from(this.#runners.values(), ({ status }) => ({
      ...status,
      dropped: status.dropped + (this.#droppedBefore.get(status.id) ?? 0),
    }));
  }
}
