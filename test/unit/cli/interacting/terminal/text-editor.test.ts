import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TextEditor } from '../../../../../cli/interacting/terminal/text-editor.ts';

/** The same as one text with an offset in it, in characters. */
class NaiveEditor {
  characters: string[] = [];
  at = 0;

  insert(text: string): void {
    const added = [...text];
    this.characters.splice(this.at, 0, ...added);
    this.at += added.length;
  }

  left(): void {
    this.at = Math.max(0, this.at - 1);
  }

  right(): void {
    this.at = Math.min(this.characters.length, this.at + 1);
  }

  deleteAfter(): void {
    this.characters.splice(this.at, 1);
  }

  lineStart(): void {
    while (this.at > 0 && this.characters[this.at - 1] !== '\n') this.at--;
  }

  lineEnd(): void {
    while (this.at < this.characters.length && this.characters[this.at] !== '\n') this.at++;
  }
}

const moves = ['left', 'right', 'deleteAfter', 'lineStart', 'lineEnd'] as const;

it('edits like a text with a place in it', () => {
  const text = fc.array(fc.constantFrom('a', 'b', '\n', '😀', 'é'), { maxLength: 6 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.constantFrom(...moves), fc.record({ text })), { maxLength: 40 }), (steps) => {
      const editor = new TextEditor();
      const naive = new NaiveEditor();
      for (const step of steps) {
        for (const one of [editor, naive]) typeof step === 'string' ? one[step]() : one.insert(step.text);
      }
      expect(editor.text).toBe(naive.characters.join(''));
      const before = naive.characters.slice(0, naive.at).join('').split('\n');
      expect([editor.row, editor.column]).toEqual([before.length - 1, [...(before.at(-1) ?? '')].length]);
    }),
  );
});

it('indents a new line as the one before, deeper behind a colon, and takes a step of it back at once', () => {
  const editor = new TextEditor();
  editor.insert('event A:');
  editor.breakLine();
  editor.insert('x: int');
  editor.breakLine();
  expect(editor.text).toBe('event A:\n    x: int\n    ');
  editor.deleteBefore();
  expect(editor.text).toBe('event A:\n    x: int\n');
});

it('keeps what would move the cursor of the terminal out of the text', () => {
  const editor = new TextEditor();
  editor.insert('a\u001b[2Jb\r\nc\td\u0007');
  expect(editor.text).toBe('a[2Jb\nc    d');
});

it('takes ten thousand lines at once and shows the part with the cursor', () => {
  const editor = new TextEditor();
  editor.insert(Array.from({ length: 10_000 }, (_, at) => `line ${at}`).join('\n'));
  expect(editor.window(20, 40)).toEqual({ top: 9_980, left: 0 });
  editor.moveRows(-5_000);
  expect(editor.window(20, 40)).toEqual({ top: 4_999, left: 0 });
});

describe('undo', () => {
  it('takes back words that were typed, and makes them again', () => {
    const editor = new TextEditor();
    for (const character of 'one two') editor.insert(character);
    expect([editor.undo(), editor.text]).toEqual([true, 'one ']);
    expect([editor.undo(), editor.text]).toEqual([true, 'one']);
    expect([editor.undo(), editor.text, editor.undo()]).toEqual([true, '', false]);
    for (let step = 0; step < 3; step++) editor.redo();
    expect([editor.text, editor.column, editor.redo()]).toEqual(['one two', 7, false]);
  });

  it('takes back what was deleted, pasted and replaced, with the cursor where it was', () => {
    const editor = new TextEditor();
    editor.set('a\nb');
    editor.goTo(1, 0);
    editor.insert('x\ny');
    editor.deleteBefore();
    editor.deleteBefore();
    editor.deleteRest();
    expect(editor.text).toBe('a\nx');
    editor.undo();
    expect([editor.text, editor.row]).toEqual(['a\nxb', 1]);
    editor.undo();
    expect([editor.text, editor.row, editor.column]).toEqual(['a\nx\nyb', 2, 1]);
    editor.undo();
    expect([editor.text, editor.row, editor.column]).toEqual(['a\nb', 1, 0]);
  });

  it('forgets what was taken back once something else is changed', () => {
    const editor = new TextEditor();
    editor.insert('one');
    editor.undo();
    editor.insert('two');
    expect([editor.redo(), editor.text]).toEqual([false, 'two']);
  });
});
