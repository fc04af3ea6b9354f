import type { ComponentChildren } from 'preact';

export type Tone = 'good' | 'warn' | 'bad' | 'quiet';

const tones: Readonly<Record<string, Tone>> = {
  running: 'good',
  ready: 'good',
  connected: 'good',
  closed: 'good',
  completed: 'good',
  assigned: 'quiet',
  started: 'quiet',
  moved: 'quiet',
  no_workers: 'bad',
  healthy: 'good',
  starting: 'quiet',
  registering: 'quiet',
  deploying: 'quiet',
  stopped: 'quiet',
  ended: 'quiet',
  drained: 'quiet',
  draining: 'warn',
  degraded: 'warn',
  half_open: 'warn',
  pending: 'warn',
  failed: 'bad',
  open: 'bad',
  disconnected: 'bad',
  unhealthy: 'bad',
  critical: 'bad',
  removed: 'bad',
  fenced: 'bad',
};

const marks: Readonly<Record<Tone, string>> = { good: '●', warn: '▲', bad: '■', quiet: '○' };

/** A state as a word with a mark; never by colour alone. */
export function Status({ of, children }: { readonly of: string; readonly children?: ComponentChildren }) {
  const tone = tones[of] ?? 'quiet';
  return (
    <span class={`status ${tone}`}>
      <span aria-hidden="true">{marks[tone]}</span> {children ?? of.replace('_', '-')}
    </span>
  );
}
