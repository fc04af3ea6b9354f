import { afterEach, expect, it } from 'vitest';
import { TerminalProcess } from './terminal-process.ts';

const running: TerminalProcess[] = [];

afterEach(async () => {
  for (const terminal of running.splice(0)) await terminal.kill();
});

function open(...args: readonly string[]): TerminalProcess {
  const terminal = new TerminalProcess(['interactive', ...args], { columns: 110, rows: 34 });
  running.push(terminal);
  return terminal;
}

/** Two processes that start, on a machine that may be busy. */
const TIMEOUT_MS = 60_000;

const declarations = 'event A:\n    x: int\n\nstream S = A\n    .where(x > 3)\n    .emit(x: x)\n';

it(
  'shows a program at work on a terminal, takes a paste of a thousand lines and another size, and leaves the terminal as it was',
  async () => {
    const terminal = open();
    await terminal.until((text) => text.includes('┏━ Program') && text.includes('cep> '));
    terminal.paste(`${declarations}${'#\n'.repeat(1_000)}`);
    await terminal.until((text) => text.includes('1007 ') && text.includes('changed, Ctrl+R runs it'));
    terminal.type('\u0012');
    await terminal.until((text) => text.includes('added: S'));

    terminal.type('\u001b[Z'); // Shift+Tab: to the prompt.
    terminal.type('A { x: 5 }\r');
    await terminal.until((text) => /S \{ x: 5 \}/.test(text) && /events +1\b/.test(text));

    terminal.resize({ columns: 60, rows: 30 });
    // Panes stand one below the other, each as wide as the screen, which is drawn in several pieces.
    await terminal.until((text) => text.split('\n').filter((line) => /^╭─ .* ─+╮$/.test(line)).length === 5);

    terminal.type('\u0011');
    expect(await terminal.ended).toBe(0);
    expect(terminal.isBack).toBe(true);
    expect(terminal.text).toContain('1 event, 1 output');
  },
  TIMEOUT_MS,
);

it(
  'takes ten thousand lines from a terminal that does not mark pastes as one change, as they are, and takes it back at once',
  async () => {
    const terminal = open();
    await terminal.until((text) => text.includes('┏━ Program') && text.includes('cep> '));
    terminal.type(`event A:\r\tx: int\r${'# a line of a comment\r'.repeat(10_000)}last:\r`);
    const pasted = await terminal.until((text) => text.includes('10004 '));
    // Typed, they would be indented by each other, and a tab would go to another pane.
    expect(pasted).toContain('┃10002  # a line of a comment ');
    terminal.type('\u001a');
    await terminal.until((text) => /┏━ Program.*\n┃ 1 {3,}/.test(text));
    terminal.type('\u0011');
    expect(await terminal.ended).toBe(0);
  },
  TIMEOUT_MS,
);

it(
  'answers keys while ten thousand events a second come in',
  async () => {
    const terminal = open('--generate', 'fraud', '--rate', '10000');
    await terminal.until((text) => /Takeover \{ account: /.test(text) && text.includes('fraud, 10,000/s'));
    // The program in use, the first line below its frame.
    terminal.type('\t');
    await terminal.until((text) => /┏━ Program.*\n┃ 1 {2}# fraud/.test(text));
    terminal.type('\u001b[Z');
    terminal.type('\u0014');
    await terminal.until((text) => text.includes('trace is on') && /PASS|BLOCK/.test(text));
    terminal.type('\u0007');
    await terminal.until((text) => text.includes('makes no more events'));
    terminal.type(':quit\r');
    expect(await terminal.ended).toBe(0);
  },
  TIMEOUT_MS,
);
