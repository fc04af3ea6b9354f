import { createInterface, type Interface } from 'node:readline';
import { colorsFor } from '../colors.ts';
import type { CliContext } from '../context.ts';
import { complete } from './completion.ts';
import { HISTORY_LINES_MAX, History } from './history.ts';
import { Repl } from './repl.ts';

const TICK_MS = 100;
const PROMPT = 'cep> ';
const GOES_ON_PROMPT = '...> ';
const CLEAR_LINE = '\r\u001b[K';

/** Talks with whoever sits at the terminal, or reads what is piped in, until `:quit`, the end of the input, or a signal. */
export async function converse({ stdin, stdout, stderr, env }: CliContext, file: string | undefined): Promise<void> {
  const isTyped = 'isTTY' in stdin && stdin.isTTY === true && 'isTTY' in stdout && stdout.isTTY === true;
  let lines: Interface | undefined;
  const line = (text: string): void => {
    stdout.write(isTyped ? `${CLEAR_LINE}${text}\n` : `${text}\n`);
    if (isTyped && !isBusy) lines?.prompt(true);
  };
  let isBusy = true;
  const repl = new Repl({ line, colors: colorsFor(stdout, env), env, isTyped });
  if (file !== undefined) await repl.load(file);
  const history = new History(env);
  lines = createInterface({
    input: stdin,
    ...(isTyped && { output: stdout, completer: (text: string) => complete(text, repl.session), history: readHistory(history, stderr) }),
    terminal: isTyped,
    historySize: HISTORY_LINES_MAX,
    prompt: PROMPT,
    crlfDelay: Infinity,
  });
  if (isTyped) line('cep: declarations and :commands, :help lists them');
  const ticks = setInterval(() => repl.tick(), TICK_MS);
  let latest: readonly string[] = [];
  lines.on('history', (now: string[]) => {
    latest = [...now];
  });
  lines.on('SIGINT', () => {
    repl.drop();
    stdout.write('\n');
    lines?.setPrompt(PROMPT);
    lines?.prompt();
  });
  try {
    for (lines.prompt(); ; lines.prompt()) {
      isBusy = false;
      const next = await nextLine(lines);
      isBusy = true;
      if (next === undefined) break;
      await repl.take(next);
      if (repl.hasQuit) break;
      lines.setPrompt(repl.isOpen ? GOES_ON_PROMPT : PROMPT);
    }
    await repl.end();
  } finally {
    clearInterval(ticks);
    lines.close();
    if (isTyped) stdout.write('\n');
    if (latest.length > 0) saveHistory(history, latest, stderr);
    await repl.close();
  }
}

/** Lines that came while nobody asked wait: many are pasted at once. */
const waiting = new WeakMap<Interface, LineQueue>();

interface LineQueue {
  readonly lines: string[];
  at: number;
  isClosed: boolean;
  wake: (() => void) | undefined;
}

/** Undefined when there are no more. */
async function nextLine(source: Interface): Promise<string | undefined> {
  const queue = waiting.get(source) ?? listen(source);
  while (queue.at >= queue.lines.length && !queue.isClosed) {
    await new Promise<void>((resolve) => {
      queue.wake = resolve;
    });
  }
  return queue.lines[queue.at++];
}

function listen(source: Interface): LineQueue {
  const queue: LineQueue = { lines: [], at: 0, isClosed: false, wake: undefined };
  waiting.set(source, queue);
  source.on('line', (line) => {
    queue.lines.push(line);
    queue.wake?.();
  });
  source.on('close', () => {
    queue.isClosed = true;
    queue.wake?.();
  });
  return queue;
}

function readHistory(history: History, stderr: CliContext['stderr']): string[] {
  try {
    return history.read();
  } catch (error) {
    stderr.write(`warning: the history cannot be read: ${error instanceof Error ? error.message : error}\n`);
    return [];
  }
}

function saveHistory(history: History, lines: readonly string[], stderr: CliContext['stderr']): void {
  try {
    history.write(lines);
  } catch (error) {
    stderr.write(`warning: the history cannot be saved: ${error instanceof Error ? error.message : error}\n`);
  }
}
