import type { Readable } from 'node:stream';
import manifest from '../../package.json' with { type: 'json' };
import { CepError } from '../../shared/errors/error.ts';
import type { OutputEvent } from '../../shared/events/event.ts';
import { jsonlReader } from '../../shared/events/jsonl-reader.ts';
import { LineDecoder } from '../../shared/events/reading/line-decoder.ts';
import type { MovableReader, ReadResult } from '../../shared/events/reading/read-result.ts';
import { replaceText } from '../../shared/files/text-file.ts';
import { toCepError } from '../../shared/http/error-envelope.ts';
import { nearestName } from '../../shared/language/diagnostics/nearest-name.ts';
import { topologyOf } from '../../worker/runtime/programs/topology.ts';
import { topologyWire } from '../../worker/server/wire.ts';
import { BufferedOutput } from '../buffered-output.ts';
import type { CliContext } from '../context.ts';
import { LiveFeed } from '../generators/live-feed.ts';
import { findGenerator } from '../generators/table.ts';
import { playFile } from '../session/event-file.ts';
import { type LoadReport, ProgramSession } from '../session/program-session.ts';
import { SessionNotes } from '../session/session-notes.ts';
import { errorAnswer, loadedAnswer, metricsAnswer, outputAnswer, streamsAnswer } from './answers.ts';
import { readCommand, type SessionCommand, type SessionCommandName } from './command-line.ts';
import { Subscriptions } from './subscriptions.ts';
import { TraceEntries } from './trace-entries.ts';

const TICK_MS = 100;
export const RATE_MAX = 1_000_000;

export interface InteractiveSettings {
  /** Program to begin with. */
  readonly file: string | undefined;
  /** Schema of events that are made from the beginning. */
  readonly generate: string | undefined;
  /** Events per second where a command names none. */
  readonly rate: number;
  readonly isTraced: boolean;
}

/** A session whose commands are lines of JSON on standard input, and whose answers are lines of JSON on standard output. */
export class JsonSession {
  readonly #settings: InteractiveSettings;
  readonly #out: BufferedOutput;
  readonly #trace = new TraceEntries();
  readonly #subscriptions = new Subscriptions();
  readonly #notes: SessionNotes;
  readonly #session: ProgramSession;
  readonly #startedAt = performance.now();
  #reader: MovableReader;
  #feed: LiveFeed | undefined;
  #generated = 0;
  /** Events that were refused before the program was asked. */
  #unread = 0;
  #hasFlush = false;
  #hasQuit = false;

  constructor(settings: InteractiveSettings, { stdout, stderr }: Pick<CliContext, 'stdout' | 'stderr'>) {
    this.#settings = settings;
    this.#out = new BufferedOutput(stdout);
    this.#notes = new SessionNotes((line) => void stderr.write(`${line}\n`));
    this.#session = new ProgramSession(
      {
        output: (event) => this.#output(event),
        deliver: (delivery) => this.#notes.deliver(delivery, this.#session.plan),
        log: (entry) => this.#notes.log(entry),
        tracer: this.#trace,
      },
      { isTraced: settings.isTraced },
    );
    this.#reader = jsonlReader({ schemas: this.#session.schemas });
  }

  /** Takes commands until one says `quit`, or nothing comes any more, or it is interrupted. @throws CepError of the program to begin with, when there is none */
  async run(input: Readable, interrupt: AbortSignal): Promise<void> {
    const ticks = setInterval(() => this.#guarded(() => this.#session.tick()), TICK_MS);
    try {
      await this.#begin();
      for await (const lines of linesOf(input, interrupt)) {
        await this.#takeAll(lines);
        if (this.#hasQuit) break;
      }
    } finally {
      clearInterval(ticks);
      this.#feed?.stop();
    }
    await this.#session.close();
    this.#send('{"type":"bye"}');
    await this.#out.written();
  }

  async #begin(): Promise<void> {
    const { file, generate, rate } = this.#settings;
    const first = file === undefined ? undefined : await this.#session.loadFile(file).catch(asRefusal);
    this.#send(JSON.stringify({ type: 'ready', version: manifest.version }));
    if (first instanceof CepError) this.#send(errorAnswer(first));
    else if (first !== undefined) this.#loaded(first);
    if (generate !== undefined) this.#generate({ schema: generate, rate });
  }

  async #takeAll(lines: readonly Line[]): Promise<void> {
    for (const line of lines) {
      if (this.#hasQuit) return;
      await this.#take(line);
      if (this.#out.isFull) await this.#out.ready();
    }
  }

  async #take({ text, problem }: Line): Promise<void> {
    try {
      if (problem !== undefined) throw new CepError('invalid_json', problem);
      if (text.trim() === '') return;
      const command = readCommand(text);
      await this.#handlers[command.name](command.members, text);
    } catch (error) {
      this.#send(errorAnswer(toCepError(error)));
    }
  }

  readonly #handlers: Readonly<Record<SessionCommandName, (members: SessionCommand['members'], line: string) => void | Promise<void>>> = {
    load_vpl: async ({ vpl }) => this.#loaded(await this.#session.load(String(vpl))),
    append_vpl: async ({ vpl }) => this.#loaded(await this.#session.load(appended(this.#session.source.text, String(vpl)))),
    load_file: async ({ path }) => this.#loaded(await this.#session.loadFile(String(path))),
    inject: (_, line) => this.#inject(line),
    inject_file: ({ path }) => this.#injectFile(String(path)),
    generate: ({ schema, rate, duration }) => this.#generate({ schema, rate, duration } as GenerateMembers),
    stop_generate: () => this.#stopGenerate(),
    get_streams: () => this.#send(streamsAnswer(this.#session.plan)),
    get_topology: () => this.#send(JSON.stringify({ type: 'topology', ...topologyWire(topologyOf(this.#session.plan)) })),
    get_metrics: () => this.#sendMetrics(),
    get_source: () => this.#send(JSON.stringify({ type: 'source', vpl: this.#session.source.text })),
    set_trace: ({ enabled }) => {
      this.#session.trace(enabled === true);
      this.#ok('set_trace');
    },
    subscribe: ({ stream }) => {
      this.#requireStream(String(stream));
      this.#subscriptions.add(String(stream));
      this.#ok('subscribe');
    },
    unsubscribe: ({ stream }) => {
      this.#subscriptions.delete(
        String(stream),
        this.#session.plan.streams.map(({ name }) => name),
      );
      this.#ok('unsubscribe');
    },
    save: ({ path }) => this.#save(String(path)),
    quit: () => {
      this.#hasQuit = true;
    },
  };

  #loaded(report: LoadReport): void {
    this.#reader = jsonlReader({ schemas: this.#session.schemas });
    this.#send(loadedAnswer(report));
  }

  /** The reader of event files takes the line, so that numbers and times mean what they mean there. */
  async #inject(line: string): Promise<void> {
    this.#reader.position = { lines: 0, time: this.#session.now };
    const [result] = this.#reader.write(Buffer.from(`${line}\n`));
    if (result?.kind !== 'event') {
      this.#unread++;
      throw result === undefined ? new CepError('invalid_event', 'the line holds no event') : unreadEvent(result);
    }
    const { event } = result;
    const { admission, outputs } = this.#session.push(event);
    if (admission.status === 'invalid') throw invalidEvent(admission);
    const before = this.#session.outputs;
    await this.#session.settled();
    this.#sendTrace(event.type);
    this.#send(JSON.stringify({ type: 'injected', event_type: event.type, outputs: outputs + this.#session.outputs - before }));
  }

  async #injectFile(path: string): Promise<void> {
    const tell = (line: string): void => this.#notes.tell(line);
    const { events, outputs, refused, unread } = await playFile({ session: this.#session, path, tell, ready: () => this.#out.ready() });
    this.#unread += unread;
    this.#sendTrace(null);
    this.#send(JSON.stringify({ type: 'injected', events, outputs, ...(refused > 0 && { refused }) }));
  }

  #generate({ schema, rate = this.#settings.rate, duration }: GenerateMembers): void {
    const generator = findGenerator(schema);
    if (rate > RATE_MAX) throw new CepError('validation_error', `generate: 'rate' is ${rate}, expected at most ${RATE_MAX}`);
    this.#feed?.stop();
    this.#generated = 0;
    this.#feed = new LiveFeed({
      generator,
      rate,
      ...(duration !== undefined && { countMax: Math.round(rate * duration) }),
      isFull: () => this.#out.isFull,
      take: (event) => {
        this.#generated++;
        this.#session.push(event);
        if (this.#session.isTraced) this.#sendTrace(event.type);
      },
      onEnd: (failure) => {
        if (failure !== undefined) this.#send(errorAnswer(toCepError(failure)));
        this.#sendGenerator();
      },
    });
    this.#feed.start();
    this.#sendGenerator();
  }

  #stopGenerate(): void {
    this.#feed?.stop();
    this.#sendGenerator();
  }

  #sendGenerator(): void {
    this.#send(JSON.stringify({ type: 'generator_status', running: this.#feed?.isRunning === true, generated: this.#generated }));
  }

  /** A subscription to a stream that does not exist would silence all others. Before a program is loaded, any may come. */
  #requireStream(name: string): void {
    const names = this.#session.plan.streams.map((stream) => stream.name);
    if (names.length === 0 || names.includes(name)) return;
    const nearest = nearestName(name, names);
    const hint = nearest === undefined ? `it has ${names.join(', ')}` : `did you mean '${nearest}'?`;
    throw new CepError('validation_error', `the program has no stream '${name}'`, { hint });
  }

  #sendMetrics(): void {
    const uptime = Math.round(performance.now() - this.#startedAt) / 1000;
    const counts = { generated: this.#generated, undelivered: this.#notes.undelivered, unread: this.#unread };
    this.#send(metricsAnswer(this.#session, { ...counts, uptime_secs: uptime }));
  }

  async #save(path: string): Promise<void> {
    try {
      await replaceText(path, this.#session.source.text);
    } catch (cause) {
      throw new CepError('io_error', `'${path}' cannot be written: ${(cause as Error).message}`, { cause });
    }
    this.#ok('save');
  }

  #output(event: OutputEvent): void {
    if (this.#subscriptions.has(event.stream)) this.#send(outputAnswer(event));
  }

  #sendTrace(eventType: string | null): void {
    const entries = this.#trace.take();
    if (entries !== null) this.#send(`{"type":"trace","event_type":${JSON.stringify(eventType)},"entries":${entries}}`);
  }

  #ok(cmd: SessionCommandName): void {
    this.#send(JSON.stringify({ type: 'ok', cmd }));
  }

  #guarded(action: () => void): void {
    try {
      action();
      this.#sendTrace(null);
    } catch (error) {
      this.#send(errorAnswer(toCepError(error)));
    }
  }

  /** Lines that come close together leave together. */
  #send(line: string): void {
    this.#out.write(`${line}\n`);
    if (this.#hasFlush) return;
    this.#hasFlush = true;
    setImmediate(() => {
      this.#hasFlush = false;
      this.#out.flush();
    });
  }
}

interface GenerateMembers {
  readonly schema: string;
  readonly rate?: number;
  readonly duration?: number;
}

/** A line of standard input; `problem` says why it cannot be one. */
interface Line {
  readonly text: string;
  readonly problem?: string;
}

/** The lines of each piece of input. Ends with the input, or when it is interrupted. */
async function* linesOf(input: Readable, interrupt: AbortSignal): AsyncGenerator<readonly Line[], void, undefined> {
  let lines: Line[] = [];
  const decoder = new LineDecoder({
    line: (text, start, end) => lines.push({ text: text.slice(start, end) }),
    longLine: () => lines.push({ text: '', problem: 'the line is longer than 1 MiB, the most that a command may have' }),
    malformedLine: (_, column) => lines.push({ text: '', problem: `the byte at column ${column} is not UTF-8 text` }),
  });
  const take = (): readonly Line[] => {
    const taken = lines;
    lines = [];
    return taken;
  };
  const stop = (): void => void input.destroy();
  interrupt.addEventListener('abort', stop, { once: true });
  try {
    for await (const chunk of input) {
      decoder.write(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
      yield take();
    }
    decoder.end();
    yield take();
  } catch (error) {
    if (!interrupt.aborted) throw error;
  } finally {
    interrupt.removeEventListener('abort', stop);
  }
}

function appended(text: string, more: string): string {
  return text === '' || text.endsWith('\n') ? text + more : `${text}\n${more}`;
}

function unreadEvent(result: Exclude<ReadResult, { kind: 'event' }>): CepError {
  if (result.kind === 'invalid') return invalidEvent(result);
  return new CepError('invalid_event', result.diagnostic.message);
}

function invalidEvent({ field, message }: { readonly field: string; readonly message: string }): CepError {
  return new CepError('invalid_event', message, { details: { field } });
}

/** A program with errors is told of; one that is not there ends the command. */
function asRefusal(error: unknown): CepError {
  if (error instanceof CepError && error.exitCode === 1) return error;
  throw error;
}
