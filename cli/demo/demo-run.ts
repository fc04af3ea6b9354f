import { setTimeout as sleep } from 'node:timers/promises';
import { jsonLine } from '../../shared/events/writer.ts';
import { type FollowedOutput, followOutputs } from '../client/follow-outputs.ts';
import { outputData, outputText } from '../client/output-text.ts';
import { colorsFor } from '../colors.ts';
import type { CliContext } from '../context.ts';
import { Random } from '../generators/random.ts';
import { LocalServer } from '../hosting/local-server.ts';
import { Building } from './building.ts';
import { buildingProgram } from './building-program.ts';
import { type DemoStatistics, demoData, demoSummary, statisticsLine } from './statistics.ts';

const EVENTS_PER_SECOND = 100;
const BATCH_MS = 100;
/** On a terminal the line of statistics is drawn anew, elsewhere there is one now and then. */
const TERMINAL_LINE_MS = 500;
const PLAIN_LINE_MS = 5_000;
/** How long the last alerts may take. */
const LAST_ALERTS_MS_MAX = 5_000;
const CLEAR_LINE = '\r\u001b[2K';

export interface DemoSettings {
  readonly durationSeconds: number;
  readonly hasAnomalies: boolean;
  readonly hasDegradation: boolean;
  readonly metricsPort: number | undefined;
  readonly seed: number;
  /** Alerts and the summary are lines of JSON. */
  readonly isJson: boolean;
}

/** A server of its own, a building that feeds it, and what its rules say, until the time is up or it is interrupted. */
export class DemoRun {
  readonly #settings: DemoSettings;
  readonly #context: CliContext;
  readonly #building: Building;
  readonly #alerts = new Map<string, number>();
  readonly #hasLine: boolean;
  #startedAt = performance.now();
  #events = 0;
  #found = 0;
  #lineAt = 0;

  constructor(settings: DemoSettings, context: CliContext) {
    const { durationSeconds, seed, hasAnomalies, hasDegradation } = settings;
    this.#settings = settings;
    this.#context = context;
    this.#building = new Building({ random: new Random(seed), hasAnomalies, hasDegradation, count: durationSeconds * EVENTS_PER_SECOND });
    this.#hasLine = 'isTTY' in context.stderr && context.stderr.isTTY === true;
  }

  /** @throws CepError when the metrics port is taken */
  async run(interrupt: AbortSignal): Promise<void> {
    const server = await LocalServer.start({
      port: 0,
      metricsPort: this.#settings.metricsPort,
      writeLog: (line) => this.#note(line.trimEnd()),
      writeConsole: (line) => this.#note(line),
    });
    const followed = new AbortController();
    try {
      if (server.metricsUrl !== undefined) this.#note(`metrics: ${server.metricsUrl}/metrics`);
      const { id } = await server.api.deploy({ name: 'building', program: { source: buildingProgram }, labels: {} });
      const following = this.#follow(server, id, followed.signal);
      await this.#feed(server, id, interrupt);
      await this.#lastAlerts(server, id);
      followed.abort();
      await following;
    } finally {
      followed.abort();
      await server.close();
    }
    this.#clear();
    const statistics = this.#statistics;
    this.#context.stdout.write(this.#settings.isJson ? `${JSON.stringify(demoData(statistics))}\n` : demoSummary(statistics));
  }

  async #feed({ api }: LocalServer, id: string, interrupt: AbortSignal): Promise<void> {
    const countMax = this.#settings.durationSeconds * EVENTS_PER_SECOND;
    this.#startedAt = performance.now();
    while (this.#events < countMax && !interrupt.aborted) {
      const due = Math.min(countMax, Math.ceil((this.#seconds + BATCH_MS / 1_000) * EVENTS_PER_SECOND));
      const lines: string[] = [];
      for (; this.#events < due; this.#events++) lines.push(jsonLine(this.#building.next(), undefined));
      if (lines.length > 0) await api.inject(id, { lines: lines.join('\n'), isDurable: false, hasOutputs: false });
      this.#showLine();
      await sleep(BATCH_MS, undefined, { signal: interrupt }).catch(() => undefined); // It rejects only when it is to end.
    }
  }

  async #follow({ api }: LocalServer, pipelineId: string, signal: AbortSignal): Promise<void> {
    const onLost = ({ message }: Error): void => this.#note(message);
    for await (const followed of followOutputs({ api, pipelineId, after: '0', signal, onLost })) this.#show(followed);
  }

  #show(followed: FollowedOutput): void {
    if (followed.kind === 'gap') {
      this.#found += followed.skipped;
      return;
    }
    const { output } = followed;
    this.#found++;
    this.#alerts.set(output.event_type, (this.#alerts.get(output.event_type) ?? 0) + 1);
    this.#clear();
    const { stdout, env } = this.#context;
    stdout.write(this.#settings.isJson ? `${JSON.stringify(outputData(output))}\n` : outputText(output, colorsFor(stdout, env)));
  }

  /** What the events have caused is still on its way when the last of them was taken. */
  async #lastAlerts({ api }: LocalServer, id: string): Promise<void> {
    const { output_events_emitted: emitted } = await api.metrics(id);
    const until = performance.now() + LAST_ALERTS_MS_MAX;
    while (this.#found < emitted && performance.now() < until) await sleep(BATCH_MS);
  }

  get #seconds(): number {
    return (performance.now() - this.#startedAt) / 1_000;
  }

  get #statistics(): DemoStatistics {
    const { hasAnomalies, hasDegradation } = this.#settings;
    return {
      seconds: this.#seconds,
      events: this.#events,
      alerts: this.#alerts,
      planted: this.#building.planted,
      hasAnomalies,
      hasDegradation,
    };
  }

  #showLine(): void {
    const now = performance.now();
    if (now - this.#lineAt < (this.#hasLine ? TERMINAL_LINE_MS : PLAIN_LINE_MS)) return;
    this.#lineAt = now;
    const line = statisticsLine(this.#statistics);
    this.#context.stderr.write(this.#hasLine ? `${CLEAR_LINE}${line}` : `${line}\n`);
  }

  #note(line: string): void {
    this.#clear();
    this.#context.stderr.write(`${line}\n`);
  }

  #clear(): void {
    if (this.#hasLine) this.#context.stderr.write(CLEAR_LINE);
  }
}
