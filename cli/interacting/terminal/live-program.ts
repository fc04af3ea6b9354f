import type { Fields, OutputEvent } from '../../../shared/events/event.ts';
import { replaceText } from '../../../shared/files/text-file.ts';
import type { Diagnostic } from '../../../shared/language/diagnostics/diagnostic.ts';
import { plain } from '../../colors.ts';
import { type Generator, programOf } from '../../generators/generator.ts';
import { LiveFeed } from '../../generators/live-feed.ts';
import { findGenerator, generators } from '../../generators/table.ts';
import { Repl, type ReplScreen } from '../../repl/repl.ts';
import type { ProgramSession } from '../../session/program-session.ts';
import type { InteractiveSettings } from '../json-session.ts';
import { LogLines } from './log-lines.ts';

const ENTRIES_MAX = 2_000;
const TICK_MS = 100;
/** An event as a person writes it, without a command before it. */
const EVENT = /^\s*[A-Za-z_]\w*\s*\{/;

/** What came in, or what was decided about it. The text of an event is made when it is looked at: most of many never are. */
export type LogEntry =
  | { readonly kind: 'event'; readonly type: string; readonly fields: Fields; readonly time: number }
  | { readonly kind: 'trace'; readonly text: string };

/** What was typed, and what was said to it. */
export interface Message {
  readonly text: string;
  readonly isTyped: boolean;
}

/** A program that runs while its text changes, what came in, and what came of it. */
export class LiveProgram {
  readonly log = new LogLines<LogEntry>(ENTRIES_MAX);
  readonly outputs = new LogLines<OutputEvent>(ENTRIES_MAX);
  readonly messages = new LogLines<Message>(ENTRIES_MAX);
  readonly #settings: InteractiveSettings;
  readonly #repl: Repl;
  readonly #changed: () => void;
  #feed: LiveFeed | undefined;
  #schema: string | undefined;
  #generated = 0;
  #problems: readonly Diagnostic[] = [];
  /** What was asked for is done in order. */
  #work: Promise<void> = Promise.resolve();
  #ticks: NodeJS.Timeout | undefined;

  constructor(settings: InteractiveSettings, env: Readonly<Record<string, string | undefined>>, changed: () => void) {
    this.#settings = settings;
    this.#changed = changed;
    const screen = { line: (text: string) => this.#note(text), colors: plain, env, isTyped: true, apart: this.#streams() };
    this.#repl = new Repl(screen, { isTraced: settings.isTraced });
  }

  get session(): ProgramSession {
    return this.#repl.session;
  }

  /** The text of the program that runs. */
  get text(): string {
    return this.session.source.text;
  }

  get file(): string | undefined {
    return this.#settings.file;
  }

  /** What is wrong with the text that was to run last. */
  get problems(): readonly Diagnostic[] {
    return this.#problems;
  }

  get generator(): { readonly schema: string; readonly rate: number; readonly isRunning: boolean; readonly generated: number } | undefined {
    if (this.#feed === undefined || this.#schema === undefined) return undefined;
    return { schema: this.#schema, rate: this.#settings.rate, isRunning: this.#feed.isRunning, generated: this.#generated };
  }

  #streams(): NonNullable<ReplScreen['apart']> {
    return {
      input: ({ type, fields }, fallbackTime) => this.log.add({ kind: 'event', type, fields, time: fallbackTime }),
      output: (event) => this.outputs.add(event),
      trace: (text) => this.log.add({ kind: 'trace', text }),
    };
  }

  /** @throws CepError of the file to begin with, when there is none */
  async begin(): Promise<void> {
    const { file, generate } = this.#settings;
    if (file !== undefined) this.#problems = await this.#repl.open(file);
    if (generate !== undefined) await this.#generate(findGenerator(generate));
    this.#ticks = setInterval(() => {
      this.#repl.tick();
      this.#changed();
    }, TICK_MS);
  }

  /** Runs this text in place of the program; one with errors changes nothing. */
  run(text: string): Promise<void> {
    return this.#inOrder(async () => {
      this.#problems = await this.#repl.replace(text);
    });
  }

  /** Takes what was typed or pasted at the prompt: events and commands line by line; declarations that are pasted, together. */
  submit(text: string): Promise<void> {
    return this.#inOrder(async () => {
      if (!text.includes('\n')) return await this.#takeLine(text);
      for (const piece of piecesOf(text)) {
        if (!piece.isCode) await this.#takeLine(piece.text);
        else {
          this.#typed(piece.text);
          await this.#repl.add(piece.text);
        }
      }
    });
  }

  /** Whether the next line belongs to a declaration that has begun. */
  get isOpen(): boolean {
    return this.#repl.isOpen;
  }

  get hasQuit(): boolean {
    return this.#repl.hasQuit;
  }

  toggleTrace(): void {
    void this.#inOrder(async () => {
      this.session.trace(!this.session.isTraced);
      this.#note(`trace is ${this.session.isTraced ? 'on' : 'off'}`);
    });
  }

  /** Of the schema that was asked for, else of the one whose types the program has, else of the first. */
  toggleGenerator(): void {
    void this.#inOrder(async () => {
      if (this.#feed?.isRunning === true) this.#stopGenerator();
      else await this.#generate(this.#fittingGenerator());
    });
  }

  save(text: string): void {
    const { file } = this;
    void this.#inOrder(async () => {
      if (file === undefined) return this.#note('there is no file to save to: begin with -f FILE');
      await replaceText(file, text);
      this.#note(`saved ${file}`);
    });
  }

  /** Resolves when everything that was asked for is done. */
  settled(): Promise<void> {
    return this.#work;
  }

  async close(): Promise<void> {
    clearInterval(this.#ticks);
    this.#feed?.stop();
    await this.#work;
    await this.#repl.close();
  }

  async #takeLine(text: string): Promise<void> {
    this.#typed(text);
    await this.#repl.take(EVENT.test(text) && !this.isOpen ? `:event ${text.trim()}` : text.trimEnd());
  }

  #typed(text: string): void {
    this.messages.add({ text: text.split('\n')[0] ?? '', isTyped: true });
  }

  #fittingGenerator(): Generator {
    if (this.#schema !== undefined) return findGenerator(this.#schema);
    const types = new Set(this.session.plan.events.map(({ name }) => name));
    const fitting = generators.find(({ declarations }) =>
      Array.from(declarations.matchAll(/^event (\w+)/gm)).some(([, name = '']) => types.has(name)),
    );
    return fitting ?? (generators[0] as Generator);
  }

  /** Where no program runs, that of the schema does: then there is something to see. */
  async #generate(generator: Generator): Promise<void> {
    const { rate } = this.#settings;
    if (this.text.trim() === '') await this.#repl.replace(programOf(generator));
    this.#schema = generator.name;
    this.#generated = 0;
    this.#feed = new LiveFeed({
      generator,
      rate,
      take: ({ type, fields }) => {
        this.#generated++;
        this.session.push({ type, fields });
      },
      onEnd: (failure) => {
        if (failure !== undefined) this.#note(`error: ${failure instanceof Error ? failure.message : failure}`);
      },
    });
    this.#feed.start();
    this.#note(`makes events of ${generator.name}, ${rate} a second`);
  }

  #stopGenerator(): void {
    this.#feed?.stop();
    this.#note('makes no more events');
  }

  #note(text: string): void {
    this.messages.add({ text, isTyped: false });
    this.#changed();
  }

  /** What fails is said: nothing that is asked for ends the session. */
  #inOrder(action: () => Promise<void>): Promise<void> {
    this.#work = this.#work.then(action).catch((error: unknown) => this.#note(`error: ${error instanceof Error ? error.message : error}`));
    void this.#work.then(this.#changed);
    return this.#work;
  }
}

/** Lines of declarations that follow each other belong together. */
function piecesOf(text: string): readonly { readonly text: string; readonly isCode: boolean }[] {
  const pieces: { text: string; isCode: boolean }[] = [];
  for (const line of text.split('\n')) {
    const last = pieces.at(-1);
    const isIndented = /^\s+\S/.test(line);
    if (line.startsWith(':') || (EVENT.test(line) && !isIndented)) pieces.push({ text: line, isCode: false });
    else if (last?.isCode === true) last.text += `\n${line}`;
    else if (line.trim() !== '') pieces.push({ text: line, isCode: true });
  }
  return pieces;
}
