import { afterEach, expect, it } from 'vitest';
import { LiveProgram } from '../../../../../cli/interacting/terminal/live-program.ts';
import { SessionScreen } from '../../../../../cli/interacting/terminal/session-screen.ts';
import type { Key, ScreenFrame } from '../../../../../cli/terminal/screen.ts';
import { WorkFolder } from '../../work-folder.ts';

const work = new WorkFolder();
const size = { columns: 120, rows: 40 };
const source = 'event A:\n    x: int\n\nstream S = A\n    .where(x > 3)\n    .emit(x: x)\n';

/** A session without a terminal: keys in, frames out. */
class Session {
  readonly program: LiveProgram;
  readonly screen: SessionScreen;
  hasQuit = false;

  constructor(settings: { readonly file?: string; readonly generate?: string } = {}) {
    const all = { file: settings.file, generate: settings.generate, rate: 100, isTraced: false };
    this.program = new LiveProgram(all, {}, () => this.screen.changed());
    this.screen = new SessionScreen(this.program, () => {
      this.hasQuit = true;
    });
  }

  async begin(): Promise<this> {
    await this.program.begin();
    await this.screen.begin();
    sessions.push(this);
    return this;
  }

  key(name: string, more: Partial<Key> = {}): void {
    this.screen.press({ name, isCtrl: false, isShift: false, text: '', ...more });
  }

  async type(text: string): Promise<void> {
    this.key('', { text });
    if (!text.includes('\n')) this.key('return');
    await this.program.settled();
  }

  async control(letter: string): Promise<void> {
    this.key(letter, { isCtrl: true });
    await this.program.settled();
  }

  pane(title: string, frame: ScreenFrame = this.screen.frame(size)): string {
    const pane = frame.rows.flat().find((one) => one.title.startsWith(title));
    return (pane?.lines ?? []).map((spans) => spans.map(({ text }) => text).join('')).join('\n');
  }
}

const sessions: Session[] = [];

afterEach(async () => {
  for (const { screen, program } of sessions.splice(0)) {
    screen.close();
    await program.close();
  }
});

it('shows the program of a file, an event that is typed, and what comes of it', async () => {
  const session = await new Session({ file: work.write('rules.vpl', source) }).begin();
  expect(session.pane('Program')).toContain(' 4  stream S = A');
  await session.type('A { x: 5 }');
  expect(session.pane('Events')).toMatch(/A \{ x: 5 \}$/);
  expect(session.pane('Outputs')).toMatch(/S \{ x: 5 \}$/);
  expect(session.pane('Metrics')).toMatch(/^events +1\b/);
});

it('takes a declaration line by line, and shows it in the program', async () => {
  const session = await new Session({ file: work.write('rules.vpl', source) }).begin();
  await session.type('stream T = A');
  await session.type('    .emit(y: x)');
  await session.type('');
  expect(session.pane('Messages')).toContain('added: T; kept with its state: S');
  expect(session.pane('Program')).toContain('stream T = A');
});

it('runs the program as it was edited, and marks the line with an error while the program before goes on', async () => {
  const session = await new Session({ file: work.write('rules.vpl', source) }).begin();
  session.key('tab');
  session.key('down');
  session.key('end');
  session.key('', { text: 'o' });
  await session.control('r');
  expect(session.pane('Program')).toContain(' 2✗     x: into');
  expect(session.screen.frame(size).header.at(-1)?.text).toBe('  1 error: the program before goes on');
  session.key('backspace');
  expect(session.screen.frame(size).header.at(-1)?.text).toBe('  changed, Ctrl+R runs it');
  await session.control('r');
  expect(session.pane('Messages')).toMatch(/kept with its state: S$/);
});

it('takes a paste of events, commands and declarations at once', async () => {
  const session = await new Session().begin();
  session.key('tab', { isShift: true });
  await session.type(`${source}A { x: 4 }\n:trace on\nA { x: 5 }\n`);
  expect(session.program.session.counters.eventsProcessed).toBe(2);
  expect(session.program.session.isTraced).toBe(true);
  expect(session.pane('Events')).toContain('| where(x > 3) PASS');
});

it('keeps a draft in the editor when something is declared at the prompt', async () => {
  const session = await new Session({ file: work.write('rules.vpl', source) }).begin();
  session.key('tab');
  session.key('', { text: '# mine\n' });
  session.key('tab', { isShift: true });
  await session.type('stream T = A.emit(y: x)');
  expect(session.pane('Program')).toContain('# mine');
  expect(session.pane('Program')).toContain('stream T = A.emit(y: x)');
  expect(session.program.text).not.toContain('# mine');
});

it('makes events of the schema with a program that finds something in them, until it is told to stop', async () => {
  const session = await new Session({ generate: 'iot' }).begin();
  expect(session.program.generator).toMatchObject({ schema: 'iot', isRunning: true });
  expect(session.pane('Program')).toContain('# iot: ');
  await session.control('g');
  expect(session.program.generator?.isRunning).toBe(false);
});

it('fills a screen of any size exactly', async () => {
  const session = await new Session({ file: work.write('rules.vpl', source) }).begin();
  for (const columns of [20, 60, 89, 90, 250]) {
    for (const rows of [8, 17, 24, 60]) {
      for (let pane = 0; pane < 6; pane++) {
        const { rows: shown, footer } = session.screen.frame({ columns, rows });
        expect(shown.reduce((sum, panes) => sum + (panes[0]?.height ?? 0), 1 + footer.length)).toBe(rows);
        for (const panes of shown) expect(panes.reduce((sum, { width }) => sum + width, 0)).toBe(columns);
        session.key('tab');
      }
    }
  }
});

it('says what cannot be saved, and quits by its keys', async () => {
  const session = await new Session().begin();
  await session.control('s');
  expect(session.pane('Messages')).toBe('there is no file to save to: begin with -f FILE');
  session.key('q', { isCtrl: true });
  expect(session.hasQuit).toBe(true);
});

it('takes changes of the program back and makes them again, and completes names in it', async () => {
  const session = await new Session().begin();
  await session.type('event Reading:\n    celsius: float\n');
  await session.control('r');
  session.key('end');
  session.key('', { text: 'stream S = Rea' });
  session.key('n', { isCtrl: true });
  expect(session.pane('Program')).toContain('stream S = Reading');
  session.key('z', { isCtrl: true });
  expect(session.pane('Program')).toMatch(/stream S = Rea *$/m);
  session.key('y', { isCtrl: true });
  session.key('', { text: '.e' });
  session.key('`', { isCtrl: true });
  const [, hint] = session.screen.frame(size).footer;
  expect(hint?.map(({ text }) => text).join('')).toBe('.each(  .emit(  .enrich(');
});
