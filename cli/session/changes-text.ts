import type { RestoreReport } from '../../worker/engine/engine.ts';
import type { Colors } from '../colors.ts';
import { visible } from '../event-text.ts';

/** What a new program has made of the streams of the one before, on one line; undefined when there were none. */
export function changesText({ added, preserved, changed, reset, lostState, removed }: RestoreReport, colors: Colors): string | undefined {
  const parts = [
    [colors.green('added'), added],
    [colors.green('kept with its state'), preserved],
    [colors.green('changed'), [...changed, ...reset].filter((name) => !lostState.includes(name))],
    [colors.yellow('changed, lost state'), lostState],
    [colors.red('removed'), removed],
  ] as const;
  const told = parts.filter(([, names]) => names.length > 0).map(([what, names]) => `${what}: ${names.map(visible).join(', ')}`);
  return told.length > 0 ? told.join('; ') : undefined;
}
