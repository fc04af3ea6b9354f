import { Writable } from 'node:stream';
import { CepError } from '../../shared/errors/error.ts';
import type { InputEvent, OutputEvent } from '../../shared/events/event.ts';
import { evtReader } from '../../shared/events/evt-reader.ts';
import { parseDuration } from '../../shared/events/text.ts';
import type { Diagnostic } from '../../shared/language/diagnostics/diagnostic.ts';
import { nearestName } from '../../shared/language/diagnostics/nearest-name.ts';
import { inputsOf } from '../../worker/engine/streams/plan-inputs.ts';
import { readTypesOf } from '../../worker/engine/streams/unread-types.ts';
import { unknownMembers } from '../../worker/runtime/programs/event-notes.ts';
import { tableText } from '../client/table.ts';
import type { Colors } from '../colors.ts';
import { counted, thousands } from '../counts.ts';
import { clockText, eventText, visible } from '../event-text.ts';
import { unknownLines } from '../explaining/input-notes.ts';
import { diagnosticsText } from '../program/diagnostics.ts';
import { changesText } from '../session/changes-text.ts';
import { playFile } from '../session/event-file.ts';
import { ProgramError } from '../session/program-error.ts';
import { type LoadReport, ProgramSession, type SessionSink } from '../session/program-session.ts';
import { SessionNotes } from '../session/session-notes.ts';
import { TraceText } from '../simulation/trace-text.ts';
import { type ReplCommandName, replCommands } from './commands.ts';
import { goesOn, hasOpenBracket, isUnfinished, withStatements } from './statements.ts';

export interface ReplScreen {
  /** A line for the user. */
  line(text: string): void;
  readonly colors: Colors;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether somebody types: then what is finished is run at once. */
  readonly isTyped: boolean;
  /** Takes what comes in and out, where that has places of its own. @default outputs and traces are lines like others */
  readonly apart?: Pick<SessionSink, 'input' | 'output'> & { trace(line: string): void };
}

/** No declaration begins like that, and in other tools an event is typed as it is. */
const EVENT = /^\s*[A-Za-z_]\w*\s*\{/;

/** A conversation about a program: lines in, lines out. Nothing that is typed ends it, but `:quit`. */
export class Repl {
  readonly #screen: ReplScreen;
  readonly #session: ProgramSession;
  readonly #trace: TraceText;
  readonly #notes: SessionNotes;
  /** Lines of a statement that is not finished. */
  #open: string[] = [];
  /** What was run last, for a line that goes on with it. */
  #last: readonly string[] = [];
  /** Warnings that were shown: they would come again with every statement. */
  readonly #told = new Set<string>();
  #events = 0;
  #hasQuit = false;

  constructor(screen: ReplScreen, { isTraced = false }: { readonly isTraced?: boolean } = {}) {
    this.#screen = screen;
    this.#trace = new TraceText((line) => (screen.apart ? screen.apart.trace(line) : screen.line(line)), screen.colors, undefined);
    this.#notes = new SessionNotes((line) => screen.line(line));
    this.#session = new ProgramSession(
      {
        output: (event) => this.#output(event),
        ...screen.apart,
        deliver: (delivery) => this.#notes.deliver(delivery, this.#session.plan),
        log: (entry) => this.#notes.log(entry),
        tracer: this.#trace,
      },
      { isTraced },
    );
  }

  get session(): ProgramSession {
    return this.#session;
  }

  get hasQuit(): boolean {
    return this.#hasQuit;
  }

  /** Whether the next line belongs to a statement that has begun. */
  get isOpen(): boolean {
    return this.#open.length > 0;
  }

  /** Takes a line. Whatever is wrong with it is said. */
  async take(line: string): Promise<void> {
    if (line.startsWith(':')) return await this.#guarded(async () => this.#command(line));
    if (line.trim() === '') return await this.end();
    if (/^\s*(?:#|\/\/)/.test(line)) return;
    if (goesOn(line)) {
      if (this.#open.length === 0) this.#open = [...this.#last];
    } else if (this.#open.length > 0 && !isStillOpen(this.#open)) await this.end();
    this.#open.push(line);
    if (this.#screen.isTyped && !isUnfinished(this.#open)) await this.end();
  }

  /** What was typed so far is all: it is run. */
  async end(): Promise<void> {
    const lines = this.#open;
    this.#open = [];
    if (lines.length === 0) return;
    const text = lines.join('\n');
    await this.#guarded(async () => {
      if (EVENT.test(text))
        throw new CepError('invalid_event', 'found an event where a declaration is expected', { hint: `:event ${text.trim()}` });
      this.#report(await this.#session.load(withStatements(this.#session.source.text, text)));
      this.#last = lines;
    });
  }

  /** Forgets a statement that is not finished. */
  drop(): void {
    this.#open = [];
  }

  tick(): void {
    this.#session.tick();
  }

  async load(path: string): Promise<void> {
    await this.#guarded(async () => this.#report(await this.#session.loadFile(path)));
  }

  /** The program of a file to begin with, or what is wrong with it. @throws CepError when the file cannot be read */
  async open(path: string): Promise<readonly Diagnostic[]> {
    return await this.#loaded(() => this.#session.loadFile(path));
  }

  /** Runs a text in place of the whole program. Gives what is wrong with it, which was said too. */
  async replace(text: string): Promise<readonly Diagnostic[]> {
    this.drop();
    return await this.#loaded(() => this.#session.load(text));
  }

  /** Declarations that are complete, run together. */
  async add(text: string): Promise<void> {
    await this.#guarded(async () => this.#report(await this.#session.load(withStatements(this.#session.source.text, text))));
  }

  async close(): Promise<void> {
    await this.#session.close();
  }

  async #loaded(load: () => Promise<LoadReport>): Promise<readonly Diagnostic[]> {
    try {
      this.#report(await load());
      return [];
    } catch (error) {
      if (!(error instanceof ProgramError)) throw error;
      this.#refuse(error);
      return error.diagnostics;
    }
  }

  async #guarded(action: () => Promise<void>): Promise<void> {
    try {
      await action();
    } catch (error) {
      this.#refuse(error);
    }
  }

  #refuse(error: unknown): void {
    const { line, colors, env } = this.#screen;
    if (error instanceof ProgramError) {
      const errors = error.diagnostics.filter(({ severity }) => severity === 'error');
      const text = diagnosticsText(errors, new Painted(colors.isColorSupported), env);
      for (const one of text.trimEnd().split('\n')) line(one);
      return;
    }
    const { message } = error instanceof Error ? error : new Error(String(error));
    line(`${colors.red('error:')} ${message}`);
    if (error instanceof CepError && error.hint !== undefined) line(`  ${colors.cyan('hint:')} ${error.hint}`);
  }

  async #command(text: string): Promise<void> {
    await this.end();
    const [, name = '', argument = ''] = /^:\s*(\S*)\s*(.*)$/s.exec(text) ?? [];
    const known = replCommands.find((command) => command.name === name) ?? onlyOneWith(name);
    if (known === undefined) throw unknownCommand(name);
    if (known.argument !== '' && argument.trim() === '') throw new CepError('usage_error', `:${known.name} ${known.argument}`);
    await this.#handlers[known.name](argument.trim());
  }

  readonly #handlers: Readonly<Record<ReplCommandName, (argument: string) => void | Promise<void>>> = {
    load: async (path) => this.#report(await this.#session.loadFile(path)),
    event: (text) => this.#event(text),
    events: (path) => this.#eventsOf(path),
    advance: (text) => this.#advance(text),
    streams: () => this.#streams(),
    source: () => this.#text(this.#session.source.text),
    trace: (text) => this.#setTrace(text),
    reset: () => {
      this.#session.reset();
      this.#screen.line('forgotten; the program stays');
    },
    help: () => this.#help(),
    quit: () => {
      this.#hasQuit = true;
    },
  };

  #report(report: LoadReport): void {
    const { streams, warnings } = report;
    const { line, colors, env } = this.#screen;
    const told = warnings.filter(({ code, message }) => !this.#told.has(`${code} ${message}`));
    for (const { code, message } of told) this.#told.add(`${code} ${message}`);
    this.#text(diagnosticsText(told, new Painted(colors.isColorSupported), env));
    line(changesText(report, colors) ?? `ok, ${counted(streams.length, 'stream')}`);
  }

  async #event(text: string): Promise<void> {
    if (/^\s*@/.test(text))
      throw new CepError('invalid_event', '`:event` takes no `@`: an event comes at the time of the session', {
        hint: 'move it with `:advance 1h`',
      });
    const [result] = readerOf(this.#session).write(Buffer.from(`${text.replaceAll('\n', ' ')}\n`));
    if (result === undefined) throw new CepError('invalid_event', 'expected an event, as `Type { field: value }`');
    if (result.kind === 'unreadable') throw new CepError('invalid_event', result.diagnostic.message);
    if (result.kind === 'invalid') throw invalidEvent(result);
    const { fallbackTime: _, ...event } = result.event;
    const unknown = (result.unknownMembers ?? []).map((member) => [member, 1] as const);
    for (const note of unknownLines(unknownMembers(unknown))) this.#screen.line(note);
    await this.#push(event);
  }

  async #push(event: Omit<InputEvent, 'fallbackTime'>): Promise<void> {
    if (this.#session.isTraced && this.#screen.apart === undefined)
      this.#trace.event({ ...event, fallbackTime: this.#session.now }, ++this.#events);
    const { admission, outputs } = this.#session.push(event);
    if (admission.status === 'invalid') throw invalidEvent(admission);
    await this.#session.settled();
    const { line } = this.#screen;
    if (admission.incomplete.length > 0) line(`without ${admission.incomplete.map((field) => `${event.type}.${field}`).join(', ')}`);
    if (outputs > 0) return;
    const read = readTypesOf(this.#session.plan);
    const nearest = read.has(event.type) ? undefined : nearestName(event.type, read);
    if (!read.has(event.type)) line(`no stream reads ${visible(event.type)}${nearest === undefined ? '' : `: did you mean ${nearest}?`}`);
    else line('no output');
  }

  async #eventsOf(path: string): Promise<void> {
    const { events, outputs, refused } = await playFile({ session: this.#session, path, tell: (line) => this.#screen.line(line) });
    const more = refused > 0 ? `, ${thousands(refused)} refused` : '';
    this.#screen.line(`${counted(events, 'event')}, ${counted(outputs, 'output')}${more}`);
  }

  #advance(text: string): void {
    const byMs = parseDuration(text);
    if (byMs === undefined || !(byMs >= 0)) throw new CepError('usage_error', `:advance: expected a duration such as 10m, found '${text}'`);
    const before = this.#session.outputs;
    this.#session.advance(byMs);
    if (this.#session.outputs === before) this.#screen.line('no output');
  }

  #streams(): void {
    const { plan, counters } = this.#session;
    if (plan.streams.length === 0) {
      this.#screen.line('no streams yet: type one, or :load a file');
      return;
    }
    const rows = plan.streams.map(({ name, source }) => {
      const { eventsIn = 0, eventsOut = 0 } = counters.streams.get(name) ?? {};
      const inputs = inputsOf(source).map(({ from }) => (from.kind === 'event' ? from.type : (plan.streams[from.stream]?.name ?? '')));
      return [name, [...new Set(inputs)].join(', ') || source.kind, thousands(eventsIn), thousands(eventsOut)];
    });
    this.#text(
      tableText([{ title: 'Stream' }, { title: 'Reads' }, { title: 'In', isNumber: true }, { title: 'Out', isNumber: true }], rows),
    );
  }

  #setTrace(text: string): void {
    if (text !== 'on' && text !== 'off') throw new CepError('usage_error', `:trace: expected on or off, found '${text}'`);
    this.#session.trace(text === 'on');
    this.#screen.line(`trace is ${text}`);
  }

  #help(): void {
    const width = Math.max(...replCommands.map(({ name, argument }) => name.length + argument.length)) + 2;
    const rows = replCommands.map(({ name, argument, summary }) => `  ${`:${name} ${argument}`.padEnd(width)}  ${summary}`);
    this.#text(
      [
        'Everything else is code: declarations are added to the program, or take the place of those with the same name.',
        'A statement of several lines ends with an empty line.',
        '',
        ...rows,
      ].join('\n'),
    );
  }

  #text(text: string): void {
    if (text === '') return;
    for (const line of text.trimEnd().split('\n')) this.#screen.line(line);
  }

  #output({ type, time, fields }: OutputEvent): void {
    const { colors, line } = this.#screen;
    line(`${colors.dim(`[${clockText(time)}]`)} ${eventText(type, fields, colors)}`);
  }
}

/** For texts that are painted by the stream they are for. */
class Painted extends Writable {
  readonly isTTY: boolean;

  constructor(isTTY: boolean) {
    super();
    this.isTTY = isTTY;
  }
}

/** A line that is not indented begins a new statement, unless the one before waits for it. */
function isStillOpen(lines: readonly string[]): boolean {
  const last = lines.at(-1) ?? '';
  return hasOpenBracket(lines.join('\n')) || (!/^\s/.test(last) && !last.trimEnd().endsWith(':') && isUnfinished(lines));
}

function readerOf(session: ProgramSession): ReturnType<typeof evtReader> {
  return evtReader({ schemas: session.schemas });
}

function onlyOneWith(start: string): (typeof replCommands)[number] | undefined {
  const fitting = replCommands.filter(({ name }) => start !== '' && name.startsWith(start));
  return fitting.length === 1 ? fitting[0] : undefined;
}

function unknownCommand(name: string): CepError {
  const nearest = nearestName(name, new Set(replCommands.map((command) => command.name)));
  const hint = nearest === undefined ? ':help lists the commands' : `did you mean ':${nearest}'?`;
  return new CepError('usage_error', `unknown command ':${visible(name)}'`, { hint });
}

function invalidEvent({ field, message }: { readonly field: string; readonly message: string }): CepError {
  return new CepError('invalid_event', field === '' ? message : `field \`${field}\`: ${message}`);
}
