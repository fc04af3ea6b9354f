import { readTextFile } from '../../../shared/files/text-file.ts';
import { thousands } from '../../counts.ts';
import { complete } from '../../repl/completion.ts';
import { withStatements } from '../../repl/statements.ts';
import {
  FRAME_CELLS,
  type Key,
  type Line,
  type PaneFrame,
  type Screen,
  type ScreenFrame,
  type ScreenSize,
  type Span,
} from '../../terminal/screen.ts';
import { editorLines } from './editor-lines.ts';
import type { LiveProgram } from './live-program.ts';
import type { LogLines } from './log-lines.ts';
import { logLine, messageLine, outputLine } from './log-text.ts';
import { MetricsLines } from './metrics-lines.ts';
import { PromptLine } from './prompt-line.ts';
import { TextEditor } from './text-editor.ts';

const panes = ['prompt', 'program', 'outputs', 'events', 'metrics', 'messages'] as const;
type PaneName = (typeof panes)[number];

/** Below this, panes stand above each other, and below that only the one that is in use is shown. */
const COLUMNS_FOR_TWO = 90;
const ROWS_FOR_ALL = 18;
const MESSAGES_ROWS = 7;
const FRAME_MS = 100;
const KEYS_HINT = 'Tab pane · Ctrl+R run · Ctrl+G events · Ctrl+T trace · Ctrl+S save · Ctrl+Q quit';

/** The split screen of `cep interactive`: program, outputs, events, metrics and a prompt. */
export class SessionScreen implements Screen {
  readonly #program: LiveProgram;
  readonly #quit: () => void;
  readonly #editor = new TextEditor();
  readonly #prompt = new PromptLine();
  readonly #metrics = new MetricsLines();
  readonly #watchers = new Set<() => void>();
  /** The text that runs, or was tried last: another in the editor is a draft. */
  #tried = '';
  #focus: PaneName = 'prompt';
  #heights: Partial<Record<PaneName, number>> = {};
  #metricsTop = 0;
  /** What the word at the cursor may become, until the next key. */
  #offered: readonly string[] = [];
  #due: NodeJS.Timeout | undefined;

  constructor(program: LiveProgram, quit: () => void) {
    this.#program = program;
    this.#quit = quit;
  }

  /** Shows the program to begin with, also one with errors. */
  async begin(): Promise<void> {
    const { file, text } = this.#program;
    this.#tried = file === undefined ? text : await readTextFile(file, 'program file');
    this.#editor.set(this.#tried);
    this.#editor.goTo(0, 0);
    this.#focus = this.#tried.trim() === '' ? 'program' : 'prompt';
  }

  watch(changed: () => void): () => void {
    this.#watchers.add(changed);
    return () => void this.#watchers.delete(changed);
  }

  /** Something is new: it is drawn soon, with whatever else comes until then. */
  changed(): void {
    this.#due ??= setTimeout(() => {
      this.#due = undefined;
      this.#draw();
    }, FRAME_MS);
  }

  close(): void {
    clearTimeout(this.#due);
    this.#watchers.clear();
  }

  press(key: Key): void {
    this.#offered = [];
    if (!this.#pressAnywhere(key)) this.#pressIn(key);
    this.#draw();
  }

  frame({ columns, rows }: ScreenSize): ScreenFrame {
    const footer = [this.#prompt.line(columns, { isFocused: this.#focus === 'prompt', isOpen: this.#program.isOpen }), this.#hint(columns)];
    const height = rows - 1 - footer.length;
    return { header: this.#header(), rows: this.#layout(columns, height), footer };
  }

  #pressAnywhere({ name, isCtrl, isShift }: Key): boolean {
    if (name === 'tab') this.#moveFocus(isShift ? -1 : 1);
    else if (isCtrl && (name === 'q' || name === 'c')) this.#quit();
    else if (isCtrl && name === 'g') this.#toggleGenerator();
    else if (isCtrl && name === 't') this.#program.toggleTrace();
    else if (isCtrl && name === 'r') this.#run();
    else if (isCtrl && name === 's') this.#program.save(this.#editor.text);
    else return false;
    return true;
  }

  #pressIn(key: Key): void {
    if (this.#focus === 'program') this.#pressInEditor(key);
    else if (this.#focus === 'prompt') this.#pressInPrompt(key);
    else this.#scroll(this.#focus, key.name);
  }

  #pressInEditor({ name, isCtrl, text }: Key): void {
    if (text !== '') this.#editor.insert(text);
    else if (isCtrl && (name === 'n' || isSpace(name))) this.#complete(this.#editor);
    else if (name === 'return' || name === 'enter') this.#editor.breakLine();
    else if (name === 'up') this.#editor.moveRows(-1);
    else if (name === 'down') this.#editor.moveRows(1);
    else if (name === 'pageup') this.#editor.moveRows(-this.#heightOf('program'));
    else if (name === 'pagedown') this.#editor.moveRows(this.#heightOf('program'));
    else move(this.#editor, name, isCtrl);
  }

  #pressInPrompt({ name, isCtrl, text }: Key): void {
    if (text.includes('\n')) this.#submit(this.#prompt.take() + text);
    else if (text !== '') this.#prompt.editor.insert(text);
    else if (isCtrl && isSpace(name)) this.#complete(this.#prompt.editor);
    else if (name === 'return' || name === 'enter') this.#submit(this.#prompt.take());
    else if (isCtrl && (name === 'p' || name === 'n')) this.#prompt.recall(name === 'p' ? -1 : 1);
    else if (isCtrl && name === 'd' && this.#prompt.text === '') this.#quit();
    else if (/^(?:up|down|page)/.test(name)) this.#scroll('events', name);
    else move(this.#prompt.editor, name, isCtrl);
  }

  /** Completes the word before the cursor as far as it is certain, and shows what it may become. */
  #complete(editor: TextEditor): void {
    const [names, word] = complete(editor.before, this.#program.session);
    const added = sharedStart(names).slice(word.length);
    if (added !== '') editor.insert(added);
    if (names.length !== 1) this.#offered = names;
  }

  #scroll(pane: Exclude<PaneName, 'prompt' | 'program'>, name: string): void {
    const height = this.#heightOf(pane);
    const by = { up: -1, down: 1, pageup: -height, pagedown: height, home: Number.NEGATIVE_INFINITY, end: Number.POSITIVE_INFINITY }[name];
    if (by === undefined) return;
    if (pane === 'metrics')
      this.#metricsTop = Math.max(0, by === Number.POSITIVE_INFINITY ? this.#program.session.plan.streams.length : this.#metricsTop + by);
    else {
      const log: LogLines<unknown> = this.#program[pane === 'events' ? 'log' : pane];
      log.scroll(Number.isFinite(by) ? by : Math.sign(by) * log.total, height);
    }
  }

  #moveFocus(by: number): void {
    this.#focus = panes[(panes.indexOf(this.#focus) + by + panes.length) % panes.length] as PaneName;
  }

  #run(): void {
    const { text } = this.#editor;
    this.#tried = text;
    void this.#program.run(text).then(() => this.changed());
  }

  #submit(text: string): void {
    if (text.trim() === '' && !this.#program.isOpen) return;
    const before = this.#program.text;
    void this.#program.submit(text).then(() => {
      if (this.#program.hasQuit) this.#quit();
      this.#follow(before, text);
    });
  }

  #toggleGenerator(): void {
    const before = this.#program.text;
    this.#program.toggleGenerator();
    void this.#program.settled().then(() => this.#follow(before, ''));
  }

  /** The editor shows what runs now; a draft stays, with what was declared at the prompt. */
  #follow(before: string, added: string): void {
    const { text } = this.#program;
    if (text === before) return;
    const isDraft = this.#editor.text !== this.#tried && this.#editor.text.trim() !== '';
    this.#editor.set(isDraft ? withStatements(this.#editor.text, added) : text);
    this.#tried = isDraft ? this.#tried : text;
    this.#draw();
  }

  #header(): Line {
    const { file, generator, session } = this.#program;
    const made = generator?.isRunning === true ? `${generator.schema}, ${thousands(generator.rate)}/s` : 'off';
    return [
      { text: ' cep ', paint: 'cursor' },
      { text: ` ${file ?? 'no file'} `, paint: 'strong' },
      { text: ' events: ', paint: 'dim' },
      { text: made, paint: generator?.isRunning === true ? 'good' : 'plain' },
      { text: '  trace: ', paint: 'dim' },
      { text: session.isTraced ? 'on' : 'off', paint: session.isTraced ? 'good' : 'plain' },
      ...this.#state(),
    ];
  }

  #state(): readonly Span[] {
    if (this.#editor.text !== this.#tried) return [{ text: '  changed, Ctrl+R runs it', paint: 'warning' }];
    const errors = this.#program.problems.filter(({ severity }) => severity === 'error').length;
    if (errors === 0) return [];
    return [{ text: `  ${errors === 1 ? '1 error' : `${errors} errors`}: the program before goes on`, paint: 'bad' }];
  }

  #hint(columns: number): Line {
    if (this.#offered.length > 0) return [{ text: this.#offered.map((name) => name.trim()).join('  '), paint: 'name' }];
    const hint = this.#focus === 'prompt' && columns >= 120 ? `${KEYS_HINT} · Up/Down scroll events · Ctrl+P/N typed before` : KEYS_HINT;
    return [{ text: hint, paint: 'dim' }];
  }

  #layout(columns: number, height: number): ScreenFrame['rows'] {
    if (height < ROWS_FOR_ALL) return this.#few(columns, height);
    if (columns < COLUMNS_FOR_TWO) return this.#stacked(columns, height);
    const low = this.#focus === 'messages' ? Math.ceil(height / 2) : MESSAGES_ROWS;
    const upper = Math.ceil((height - low) / 2);
    const left = Math.ceil(columns / 2);
    return [
      [this.#pane('program', left, upper), this.#pane('outputs', columns - left, upper)],
      [this.#pane('events', left, height - low - upper), this.#pane('metrics', columns - left, height - low - upper)],
      [this.#pane('messages', columns, low)],
    ];
  }

  /** The one in use; at the prompt, what comes of what is typed. */
  #few(columns: number, height: number): ScreenFrame['rows'] {
    if (this.#focus !== 'prompt') return [[this.#pane(this.#focus, columns, height)]];
    const upper = Math.floor(height / 2);
    return [[this.#pane('outputs', columns, upper)], [this.#pane('messages', columns, height - upper)]];
  }

  /** The one in use is as high as all others together. */
  #stacked(columns: number, height: number): ScreenFrame['rows'] {
    const stack = panes.filter((name) => name !== 'prompt');
    const large = this.#focus === 'prompt' ? 'outputs' : this.#focus;
    const small = Math.max(3, Math.floor(height / 7));
    return stack.map((name) => [this.#pane(name, columns, name === large ? height - (stack.length - 1) * small : small)]);
  }

  #pane(name: Exclude<PaneName, 'prompt'> | PaneName, width: number, height: number): PaneFrame {
    const inside = Math.max(1, height - FRAME_CELLS);
    this.#heights[name] = inside;
    const { title, lines } = this.#content(name, inside, width - FRAME_CELLS);
    return { title, width, height, isFocused: this.#focus === name, lines };
  }

  #content(name: PaneName, height: number, width: number): { readonly title: string; readonly lines: readonly Line[] } {
    const { log, outputs, messages, problems } = this.#program;
    if (name === 'program') {
      const isTried = this.#editor.text === this.#tried;
      const view = { height, width, hasCursor: this.#focus === 'program', problems: isTried ? problems : [] };
      return { title: 'Program', lines: editorLines(this.#editor, view) };
    }
    if (name === 'outputs') return { title: titleOf('Outputs', outputs), lines: outputs.shown(height).map(outputLine) };
    if (name === 'messages') return { title: titleOf('Messages', messages), lines: messages.shown(height).map(messageLine) };
    if (name === 'metrics') {
      const lines = this.#metrics.lines(this.#program, performance.now());
      this.#metricsTop = Math.max(0, Math.min(this.#metricsTop, lines.length - height));
      return { title: 'Metrics', lines: lines.slice(this.#metricsTop) };
    }
    return { title: titleOf('Events', log), lines: log.shown(height).map(logLine) };
  }

  #heightOf(name: PaneName): number {
    return this.#heights[name] ?? 1;
  }

  #draw(): void {
    for (const changed of this.#watchers) changed();
  }
}

function titleOf(name: string, { below }: LogLines<unknown>): string {
  return below > 0 ? `${name}: ${thousands(below)} newer below, End` : name;
}

/** Terminals send Ctrl+Space as the character 0, which Node names by what follows `_` in ASCII. */
function isSpace(name: string): boolean {
  return name === 'space' || name === '`';
}

function sharedStart(names: readonly string[]): string {
  const [first = '', ...others] = names;
  let length = first.length;
  for (const other of others) while (!other.startsWith(first.slice(0, length))) length--;
  return first.slice(0, length);
}

/** What a key does in any text that is edited. */
function move(editor: TextEditor, name: string, isCtrl: boolean): void {
  if (name === 'left') editor.left();
  else if (name === 'right') editor.right();
  else if (name === 'home' || (isCtrl && name === 'a')) editor.lineStart();
  else if (name === 'end' || (isCtrl && name === 'e')) editor.lineEnd();
  else if (name === 'backspace' || (isCtrl && name === 'h')) editor.deleteBefore();
  else if (name === 'delete' || (isCtrl && name === 'd')) editor.deleteAfter();
  else if (isCtrl && name === 'k') editor.deleteRest();
  else if (isCtrl && name === 'z') editor.undo();
  else if (isCtrl && name === 'y') editor.redo();
}
