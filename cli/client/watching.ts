import { setTimeout as sleep } from 'node:timers/promises';
import { intervalProblem, readInterval } from '../../shared/config/interval.ts';
import { CepError } from '../../shared/errors/error.ts';
import type { CliContext } from '../context.ts';
import { runUntilInterrupted } from '../interruption.ts';
import { loadViews } from '../terminal/load-views.ts';
import { terminalOf } from '../terminal/terminal.ts';
import { wholeNumber } from '../whole-number.ts';
import { WatchScreen, type WatchText } from './watch-screen.ts';

/** Behind so much silence it is said that nothing answers, ms. */
const SILENT_MS = 3_000;

export interface WatchOptions {
  readonly interval: string;
  /** End after so many looks. */
  readonly count: string | undefined;
  readonly isJson: boolean;
  readonly context: CliContext;
}

/** What is looked at again and again. */
export interface Watched<Look> {
  readonly title: string;
  readonly look: () => Promise<Look>;
  readonly text: (now: Look, before: Look) => WatchText;
}

/** Where what was seen goes. */
interface Shown<Look> {
  show(now: Look, before: Look): void;
  away(message: string): void;
  /** Says that whoever looks has had enough. */
  readonly quit?: AbortSignal;
  stop?(): void;
}

/** Looks until it is interrupted, or often enough: on a terminal as a screen that can be scrolled, elsewhere as one table after the other. */
export async function watch<Look extends object>(watched: Watched<Look>, options: WatchOptions): Promise<number> {
  const { interval, count } = options;
  const intervalMs = readInterval(interval);
  if (intervalMs === undefined) throw new CepError('usage_error', intervalProblem('--interval', interval));
  const countMax = count === undefined ? Infinity : wholeNumber('--count', count, 1);
  return runUntilInterrupted(async (interrupt) => {
    const first = await unlessEnded(watched.look(), interrupt);
    if (first === undefined) return 0;
    let before = first;
    const shown = (await onScreen(watched, options)) ?? asText(watched, options);
    const end = shown.quit === undefined ? interrupt : AbortSignal.any([interrupt, shown.quit]);
    try {
      for (let looks = 0; looks < countMax; ) {
        await sleep(intervalMs, undefined, { signal: end }).catch(() => undefined); // It rejects only when it is to end.
        if (end.aborted) return 0;
        const now = await lookAgain(watched, shown, end);
        if (now === undefined) continue;
        shown.show(now, before);
        before = now;
        looks++;
      }
      return 0;
    } finally {
      shown.stop?.();
    }
  });
}

/** Undefined when the server is away, which is said, and when it is to end meanwhile. */
async function lookAgain<Look>({ look }: Watched<Look>, shown: Shown<Look>, end: AbortSignal): Promise<Look | undefined> {
  const silence = setTimeout(() => shown.away('the server does not answer; waiting for it'), SILENT_MS);
  try {
    return await unlessEnded(look(), end);
  } catch (error) {
    if (!(error instanceof CepError) || error.code !== 'runtime_error') throw error;
    shown.away(`${error.message}; trying again`);
    return undefined;
  } finally {
    clearTimeout(silence);
  }
}

/** Undefined when it is to end meanwhile. */
async function unlessEnded<Look>(look: Promise<Look>, end: AbortSignal): Promise<Look | undefined> {
  const done = new AbortController();
  const ended = new Promise<undefined>((resolve) => end.addEventListener('abort', () => resolve(undefined), { signal: done.signal }));
  try {
    return await Promise.race([look, ended]);
  } finally {
    done.abort();
  }
}

/** Undefined where nothing can be drawn, or what is shown is wanted as text. */
async function onScreen<Look>({ title, text }: Watched<Look>, { isJson, count, context }: WatchOptions): Promise<Shown<Look> | undefined> {
  const terminal = isJson || count !== undefined ? undefined : terminalOf(context);
  const views = terminal === undefined ? undefined : await loadViews(context.env);
  if (terminal === undefined || views === undefined) return undefined;
  const quit = new AbortController();
  const screen = new WatchScreen(title, () => quit.abort());
  const drawn = views.draw(screen, terminal);
  return {
    show: (now, before) => screen.show(text(now, before)),
    away: (message) => screen.away(message),
    quit: quit.signal,
    stop: () => drawn.stop(),
  };
}

function asText<Look extends object>({ text }: Watched<Look>, { isJson, context: { stdout, stderr } }: WatchOptions): Shown<Look> {
  return {
    show: (now, before) => {
      const { head, table } = text(now, before);
      stdout.write(isJson ? `${JSON.stringify(now)}\n` : `${head}\n${table}`);
    },
    away: (message) => void stderr.write(`${message}\n`),
  };
}
