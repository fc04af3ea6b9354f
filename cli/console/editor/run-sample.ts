import type { ServerMessage } from '../../../shared/protocol/websocket.ts';
import { plural } from '../parts/text.ts';
import { apiKey } from '../service/session.ts';
import type { SampleEvent } from './sample.ts';

export interface SampleResult {
  readonly accepted: number;
  readonly outputs: readonly Output[];
  readonly errors: readonly string[];
  /** Why events may have caused nothing. */
  readonly notes: readonly string[];
}

type Output = Extract<ServerMessage, { type: 'output_event' }>;
type Injected = Extract<ServerMessage, { type: 'events_injected' }>;

const waitMsMax = 30_000;

interface Sample {
  readonly source: string;
  readonly events: readonly SampleEvent[];
  readonly signal: AbortSignal;
}

/**
 * Runs a program on events over a WebSocket, whose program is gone with it. A browser gives the key as a subprotocol, so it is in no
 * address here either. @throws Error of what the server refuses
 */
export function runSample({ source, events, signal }: Sample): Promise<SampleResult> {
  return new Promise((resolve, reject) => {
    const key = apiKey();
    const url = `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/ws`;
    const socket = new WebSocket(url, ['cep.v1', ...(key === null ? [] : [`cep-auth.${key}`])]);
    const outputs: Output[] = [];
    let injected: Injected | undefined;
    const end = (act: () => void): void => {
      clearTimeout(timer);
      socket.close();
      act();
    };
    const timer = setTimeout(() => end(() => reject(new Error('the server did not answer in time'))), waitMsMax);
    signal.addEventListener('abort', () => end(() => reject(new Error('another run has begun'))));
    const finish = (): void => {
      if (injected !== undefined && outputs.length >= injected.outputs) end(() => resolve(resultOf(injected as Injected, outputs)));
    };
    socket.onopen = () => socket.send(JSON.stringify({ type: 'load', source }));
    socket.onerror = () => end(() => reject(new Error('the server took no WebSocket connection')));
    socket.onclose = () => end(() => reject(new Error('the server closed the connection')));
    socket.onmessage = ({ data }) => {
      const message = JSON.parse(data as string) as ServerMessage;
      if (message.type === 'load_result' && !message.success) end(() => reject(new Error(message.error ?? 'the program is wrong')));
      else if (message.type === 'load_result') socket.send(JSON.stringify({ type: 'events', events }));
      else if (message.type === 'output_event') outputs.push(message);
      else if (message.type === 'events_injected') injected = message;
      else if (message.type === 'error') end(() => reject(new Error(message.message)));
      finish();
    };
  });
}

function resultOf({ accepted, errors, ...notes }: Injected, outputs: readonly Output[]): SampleResult {
  return {
    accepted,
    outputs,
    errors: errors.map(({ index, error }) => `Event ${index + 1}: ${error}`),
    notes: notesOf(notes),
  };
}

function hintOf(meant: string | undefined): string {
  return meant === undefined ? '' : ` (did you mean ${meant}?)`;
}

function notesOf({
  unread_types: unread = [],
  incomplete_fields: incomplete = [],
  unknown_members: unknown = [],
  events_late: late = 0,
}: Partial<Injected>): string[] {
  return [
    ...unread.map(({ event_type: type, events, did_you_mean: meant }) => {
      return `${plural(events, 'event')} of type ${type}, which no stream reads${hintOf(meant)}`;
    }),
    ...incomplete.map(({ event_type: type, field, events }) => `${type}.${field} is missing in ${plural(events, 'event')}`),
    ...unknown.map(({ member, events, did_you_mean: meant }) => {
      return `${plural(events, 'event')} with a member ${member} beside the fields, which is passed over${hintOf(meant)}`;
    }),
    ...(late === 0 ? [] : [`${plural(late, 'event')} too late for a window, a run or a join`]),
  ];
}
