import { CepError } from '../../../shared/errors/error.ts';
import { toCepError } from '../../../shared/http/error-envelope.ts';
import type { ServerMessage } from '../../../shared/protocol/websocket.ts';
import type { SentProgram } from '../../runtime/programs/sent-program.ts';
import type { Deployed, Pipelines } from '../../runtime/service.ts';
import { problemWire } from '../routes/events.ts';
import { diagnosticWire, eventNotesWire } from '../wire.ts';
import type { ClientMessage } from './client-message.ts';
import type { OutputFeed } from './output-feed.ts';

export interface ConnectionProgramOptions {
  readonly pipelines: Pipelines;
  readonly tenantId: string;
  /** Sends the outputs of a pipeline to the client. */
  readonly feed: (pipelineId: string) => OutputFeed;
}

interface Loaded extends Deployed {
  readonly feed: OutputFeed;
}

/** The program of one WebSocket connection: seen by nobody else, gone with the connection. */
export class ConnectionProgram {
  readonly #options: ConnectionProgramOptions;
  #loaded: Loaded | undefined;

  constructor(options: ConnectionProgramOptions) {
    this.#options = options;
  }

  get feedNow(): OutputFeed | undefined {
    return this.#loaded?.feed;
  }

  /** Puts a program in the place of the one before; one with errors leaves that running. */
  async load(program: SentProgram, signal: AbortSignal): Promise<ServerMessage> {
    const { pipelines, tenantId, feed } = this.#options;
    try {
      const replaces = this.#loaded === undefined ? {} : { replaces: this.#loaded.pipeline.id };
      const deployed = await pipelines.deploy(tenantId, { name: 'websocket', ...program, ephemeral: true, ...replaces }, { signal });
      await this.unload();
      this.#loaded = { ...deployed, feed: feed(deployed.pipeline.id) };
      const { streams, warnings } = deployed;
      return {
        type: 'load_result',
        success: true,
        streams_loaded: streams.length,
        streams: [...streams],
        warnings: warnings.map(diagnosticWire),
      };
    } catch (error) {
      return loadRefusal(error);
    }
  }

  /** Hands events over; the answer comes when they are through. Never fails: the answer says what went wrong. */
  async inject(message: ClientMessage & { readonly type: 'event' | 'events' }): Promise<ServerMessage> {
    try {
      return await (message.type === 'event' ? this.#injectOne(message) : this.#injectBatch(message.body));
    } catch (error) {
      const { message: text, code } = toCepError(error);
      if (message.type === 'events') return { type: 'error', message: text, code };
      return { type: 'event_injected', event_type: message.eventType, success: false, outputs: 0, error: text, code };
    }
  }

  async #injectOne({ eventType, body }: { readonly eventType: string; readonly body: Buffer }): Promise<ServerMessage> {
    const { outputCount, notes } = await this.#inject({ body, format: 'flat', outputs: false });
    return { type: 'event_injected', event_type: eventType, success: true, outputs: outputCount, ...eventNotesWire(notes) };
  }

  async #injectBatch(body: Buffer): Promise<ServerMessage> {
    const { accepted, rejected, errors, outputCount, notes } = await this.#inject({ body, format: 'batch', outputs: false });
    const omitted = rejected - errors.length;
    return {
      type: 'events_injected',
      accepted,
      rejected,
      errors: errors.map(problemWire),
      ...(omitted > 0 && { errors_omitted: omitted }),
      outputs: outputCount,
      ...eventNotesWire(notes),
    };
  }

  status(connectedSeconds: number): ServerMessage {
    const pipeline = this.#loaded && this.#options.pipelines.get(this.#options.tenantId, this.#loaded.pipeline.id);
    return {
      type: 'status',
      running: pipeline?.status === 'running' || pipeline?.status === 'degraded',
      events_processed: pipeline?.eventsProcessed ?? 0,
      output_events_emitted: pipeline?.outputEventsEmitted ?? 0,
      streams: [...(this.#loaded?.streams ?? [])],
      uptime_seconds: pipeline?.uptimeSeconds ?? connectedSeconds,
    };
  }

  /** Never fails: a program that is gone already needs no more. */
  async unload(): Promise<void> {
    const loaded = this.#loaded;
    this.#loaded = undefined;
    if (!loaded) return;
    loaded.feed.close();
    await this.#options.pipelines.delete(this.#options.tenantId, loaded.pipeline.id).catch(ignoreGone);
  }

  #inject(request: Parameters<Pipelines['inject']>[2]): ReturnType<Pipelines['inject']> {
    if (!this.#loaded) {
      throw new CepError('pipeline_not_running', 'no program is loaded', { hint: 'send {"type": "load", "source": ".."} first' });
    }
    return this.#options.pipelines.inject(this.#options.tenantId, this.#loaded.pipeline.id, request);
  }
}

function ignoreGone(error: unknown): void {
  if (!(error instanceof CepError)) throw error;
}

function loadRefusal(error: unknown): ServerMessage {
  const { message, code, details } = toCepError(error);
  const diagnostics = Array.isArray(details) ? details.map(diagnosticWire) : [];
  return {
    type: 'load_result',
    success: false,
    streams_loaded: 0,
    streams: [],
    warnings: [],
    error: message,
    code,
    ...(diagnostics.length === 0 ? {} : { details: diagnostics }),
  };
}
