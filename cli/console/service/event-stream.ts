import { linkIsOpen } from './link.ts';
import { isAbort, keyHeaders, refusalOf, ServerError, send } from './requests.ts';
import { apiKey } from './session.ts';

export interface StreamEvent {
  readonly id: string;
  readonly event: string;
  readonly data: string;
}

export interface Following {
  readonly lastEventId?: string;
  readonly signal: AbortSignal;
  readonly onEvent: (event: StreamEvent) => void;
  /** `problem`: what the server said when it is lost by an answer. */
  readonly onState: (state: 'connecting' | 'open' | 'lost', problem?: ServerError) => void;
}

const pauseMs = { first: 500, most: 5_000 };

/**
 * Follows server-sent events with a request that carries the key as a header, and comes back where it was after the connection was
 * lost, for as long as it takes. @throws ServerError when the server refuses for good
 */
export async function followEvents(path: string, following: Following): Promise<void> {
  const { signal, onState } = following;
  let lastEventId = following.lastEventId;
  let pause = pauseMs.first;
  while (!signal.aborted) {
    onState('connecting');
    let refusal: ServerError | undefined;
    try {
      await followOnce(path, { ...following, ...(lastEventId === undefined ? {} : { lastEventId }) }, (id) => {
        lastEventId = id;
        pause = pauseMs.first;
      });
    } catch (error) {
      if (isAbort(error)) return;
      if (error instanceof ServerError) refusal = error;
    }
    onState('lost', refusal);
    if (refusal !== undefined && !isPassing(refusal)) throw refusal;
    await sleep(Math.max(pause, refusal?.retryAfterMs ?? 0), signal);
    pause = Math.min(2 * pause, pauseMs.most);
  }
}

/** As `cep logs` has it, and what fails in the server passes too. */
function isPassing({ status }: ServerError): boolean {
  return status === 429 || status >= 500;
}

async function followOnce(path: string, { lastEventId, signal, onEvent, onState }: Following, seen: (id: string) => void): Promise<void> {
  const resume = lastEventId === undefined ? {} : { 'last-event-id': lastEventId };
  const key = apiKey();
  const response = await send(path, { headers: { ...keyHeaders(key), accept: 'text/event-stream', ...resume }, signal });
  if (!response.ok || response.body === null) throw await refusalOf(response, key);
  linkIsOpen();
  onState('open');
  const parser = new EventParser();
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    for (const event of parser.push(value)) {
      if (event.id !== '') seen(event.id);
      if (event.data !== '') onEvent(event);
    }
  }
}

/** The format of server-sent events, as far as the server uses it: https://html.spec.whatwg.org/multipage/server-sent-events.html */
class EventParser {
  #rest = '';

  push(text: string): StreamEvent[] {
    const blocks = (this.#rest + text).split('\n\n');
    this.#rest = blocks.pop() ?? '';
    return blocks.map(eventOf);
  }
}

function eventOf(block: string): StreamEvent {
  const event = { id: '', event: 'message', data: '' };
  for (const line of block.split('\n')) {
    const [, name = '', value = ''] = /^([a-z]*): ?(.*)$/.exec(line) ?? [];
    if (name === 'id' || name === 'event') event[name] = value;
    else if (name === 'data') event.data += event.data === '' ? value : `\n${value}`;
  }
  return event;
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
