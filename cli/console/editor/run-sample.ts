import { keyProtocolOf } from '../../../shared/http/key-protocol.ts';
import type { ServerMessage } from '../../../shared/protocol/websocket.ts';
import { apiKey } from '../service/session.ts';
import type { Pipeline } from '../service/shapes.ts';
import { SampleAnswers, type SampleResult } from './sample-answers.ts';

export interface SampleProgram {
  readonly source: string;
  /** What it imports, and where it lies among that; absent for a program that is new. */
  readonly files?: Pipeline['files'];
  readonly path?: Pipeline['path'];
}

const waitMsMax = 30_000;

interface Sample {
  readonly program: SampleProgram;
  /** JSON texts. */
  readonly events: readonly string[];
  readonly signal: AbortSignal;
}

/**
 * Runs a program on events over a WebSocket, whose program is gone with it. A browser gives the key as a subprotocol, so it is in no
 * address here either. @throws Error of what the server refuses
 */
export function runSample({ program, events, signal }: Sample): Promise<SampleResult> {
  return new Promise((resolve, reject) => {
    const key = apiKey();
    const url = `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/ws`;
    const socket = new WebSocket(url, ['cep.v1', ...(key === null ? [] : [keyProtocolOf(key)])]);
    const answers = new SampleAnswers();
    const end = (act: () => void): void => {
      clearTimeout(timer);
      socket.close();
      act();
    };
    const timer = setTimeout(() => end(() => reject(new Error('the server did not answer in time'))), waitMsMax);
    signal.addEventListener('abort', () => end(() => reject(new Error('another run has begun'))));
    socket.onopen = () => socket.send(JSON.stringify({ type: 'load', ...program }));
    socket.onerror = () => end(() => reject(new Error('the server took no WebSocket connection')));
    socket.onclose = () => end(() => reject(new Error('the server closed the connection')));
    socket.onmessage = ({ data }) => {
      const message = JSON.parse(data as string) as ServerMessage;
      if (message.type === 'load_result' && !message.success) end(() => reject(new Error(message.error ?? 'the program is wrong')));
      else if (message.type === 'load_result') socket.send(`{"type":"events","events":[${events.join(',')}]}`);
      else if (message.type === 'error') end(() => reject(new Error(message.message)));
      else if (message.type === 'output_event' || message.type === 'gap' || message.type === 'events_injected') {
        answers.take(message);
        const { result } = answers;
        if (result !== undefined) end(() => resolve(result));
      }
    };
  });
}
