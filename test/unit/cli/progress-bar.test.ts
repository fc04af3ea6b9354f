import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ProgressBar } from '../../../cli/simulation/progress-bar.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Keeps what is written, with `ESC` for the escape character. */
class FakeTerminal {
  text = '';
  columns = 200;
  write(text: string): void {
    this.text += text.replaceAll('\u001b', 'ESC');
  }
}

describe('a progress bar', () => {
  it('is not drawn for work that is done in a moment', () => {
    const terminal = new FakeTerminal();
    const bar = new ProgressBar(terminal);
    vi.advanceTimersByTime(400);
    bar.update(90, 100);
    bar.clear();
    bar.stop();
    expect(terminal.text).toBe('');
  });

  it('shows how much is done, on one line that is erased before anything else is written and at the end', () => {
    const terminal = new FakeTerminal();
    const bar = new ProgressBar(terminal);
    vi.advanceTimersByTime(600);
    bar.update(25, 100);
    expect(terminal.text).toMatch(/^\r#{10}\.{30} 25% \| .* leftESC\[K$/);
    terminal.text = '';
    bar.clear();
    expect(terminal.text).toBe('\rESC[K');
    bar.update(50, 100);
    vi.advanceTimersByTime(500);
    expect(terminal.text).toMatch(/\r#{20}\.{20} 50%/);
    bar.stop();
    expect(terminal.text.endsWith('\rESC[K')).toBe(true);
    terminal.text = '';
    vi.advanceTimersByTime(5000);
    expect(terminal.text).toBe('');
  });

  it('never moves the cursor off its line, nor draws beyond the edge', () => {
    const terminal = new FakeTerminal();
    terminal.columns = 12;
    const bar = new ProgressBar(terminal);
    vi.advanceTimersByTime(600);
    bar.update(25, 100);
    bar.stop();
    expect(terminal.text).toMatch(/^(\r[#.]{12}ESC\[K|\rESC\[K)+$/);
  });
});
