import { setTimeout as sleep } from 'node:timers/promises';
import { CepError } from '../../shared/errors/error.ts';
import { EventStreamReader, type ServerSentEvent } from './event-stream.ts';
import type { ToldOutput } from './output-text.ts';
import type { ServerApi } from './server-api.ts';

const PAUSE_MS_MIN = 500;
const PAUSE_MS_MAX = 5_000;

export type FollowedOutput =
  | { readonly kind: 'output'; readonly sequence: string; readonly output: ToldOutput }
  /** The server had more than it keeps for a slow reader, or for one that was away. */
  | { readonly kind: 'gap'; readonly skipped: number };

export interface FollowOptions {
  readonly api: ServerApi;
  readonly pipelineId: string;
  /** Sequence number to go on behind. */
  readonly after: string | undefined;
  /** Ends the following. */
  readonly signal: AbortSignal;
  /** The connection is lost, and will be tried again. */
  readonly onLost: (error: CepError) => void;
}

/**
 * The outputs of a pipeline as they come, without end: a connection that is lost is opened again and goes on behind the last
 * output. @throws CepError when the first connection fails, or when the server will not serve the stream any more
 */
export async function* followOutputs({
  api,
  pipelineId,
  after,
  signal,
  onLost,
}: FollowOptions): AsyncGenerator<FollowedOutput, void, undefined> {
  let last = after;
  let [hasConnected, losses] = [false, 0];
  while (!signal.aborted) {
    try {
      const reader = new EventStreamReader();
      for await (const piece of api.outputs(pipelineId, last, signal)) {
        [hasConnected, losses] = [true, 0];
        for (const message of reader.write(piece)) {
          last = message.id ?? last;
          if (message.data !== undefined) yield followed(message, message.data);
        }
      }
      throw new CepError('runtime_error', `${api.url} ended the stream`);
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof CepError) || !hasConnected || !isPassing(error)) throw error;
      if (losses === 0) onLost(error);
      await pause(Math.min(PAUSE_MS_MIN * 2 ** losses++, PAUSE_MS_MAX), signal);
    }
  }
}

function isPassing({ code, status }: CepError): boolean {
  return code === 'runtime_error' || status === 429 || status >= 502;
}

function followed({ event, id = '' }: ServerSentEvent, data: string): FollowedOutput {
  const value = JSON.parse(data);
  if (event === 'gap') return { kind: 'gap', skipped: value.skipped };
  const { event_type, timestamp, data: fields } = value;
  return { kind: 'output', sequence: id, output: { event_type, timestamp, fields } };
}

function pause(ms: number, signal: AbortSignal): Promise<unknown> {
  return sleep(ms, undefined, { signal }).catch(() => undefined); // It rejects only when the following is to end.
}
