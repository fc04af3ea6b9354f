import { CepError } from '../../shared/errors/error.ts';

/** A message of a stream of server-sent events. */
export interface ServerSentEvent {
  /** `message` when the stream names none. */
  readonly event: string;
  readonly id: string | undefined;
  /** Undefined when the stream says only where it stands, which is the id to come back with. */
  readonly data: string | undefined;
}

/** A message with its fields and all lines; far above what an output event can be. */
const FRAME_LENGTH_MAX = 67_108_864;

/** Reads server-sent events from pieces of bytes; where they are cut changes no result. Comments give nothing. */
export class EventStreamReader {
  readonly #decoder = new TextDecoder();
  #rest = '';

  /** The messages that this piece completes. @throws CepError `runtime_error` for a message without end */
  write(piece: Uint8Array): ServerSentEvent[] {
    const text = this.#rest + this.#decoder.decode(piece, { stream: true });
    // A carriage return at the end may be half a line end.
    const whole = text.endsWith('\r') ? text.slice(0, -1) : text;
    const frames = whole.split(/\r\n\r\n|\n\n|\r\r/);
    this.#rest = (frames.pop() ?? '') + text.slice(whole.length);
    if (this.#rest.length > FRAME_LENGTH_MAX) throw new CepError('runtime_error', 'the server sends a message without end');
    return frames.flatMap((frame) => messageOf(frame) ?? []);
  }
}

function messageOf(frame: string): ServerSentEvent | undefined {
  let event = 'message';
  let id: string | undefined;
  const data: string[] = [];
  for (const line of frame.split(/\r\n|\n|\r/)) {
    const [, name = '', value = ''] = /^([^:]*)(?:: ?)?(.*)$/s.exec(line) ?? [];
    if (name === 'event') event = value;
    else if (name === 'id') id = value;
    else if (name === 'data') data.push(value);
  }
  if (data.length === 0) return id === undefined ? undefined : { event, id, data: undefined };
  return { event, id, data: data.join('\n') };
}
