import { emitKeypressEvents } from 'node:readline';
import type { Key } from './screen.ts';

const PASTES_ON = '\u001b[?2004h';
const PASTES_OFF = '\u001b[?2004l';

interface Keypress {
  readonly name?: string;
  readonly sequence: string;
  readonly ctrl: boolean;
  readonly meta: boolean;
  readonly shift: boolean;
}

/** So many bytes at once come from a paste, on a terminal that marks none, and not from fingers. */
const BURST_BYTES = 32;
/** A burst is over when nothing has come for so long. */
const BURST_REST_MS = 30;

/** Calls `press` for every key, and once for everything that is pasted, however many lines it has; until the function that it gives is called. */
export function readKeys(stdin: NodeJS.ReadStream, stdout: NodeJS.WriteStream, press: (key: Key) => void): () => void {
  let pasted: string[] | undefined;
  const burst = new Burst((text) => press(textKey(text)));
  const take = (text: string | undefined, key: Keypress): void => {
    if (key.name === 'paste-start') {
      burst.end();
      pasted = [];
    } else if (key.name === 'paste-end') {
      const all = withLineFeeds(pasted ?? []);
      pasted = undefined;
      press(textKey(all));
    } else if (pasted !== undefined) pasted.push(text ?? key.sequence);
    else if (!burst.take(text, key)) press(keyOf(text, key));
  };
  const come = (bytes: Buffer): void => {
    if (pasted === undefined) burst.come(bytes.length);
  };
  stdin.on('data', come); // Before that of Node, which makes keys of the same bytes.
  emitKeypressEvents(stdin);
  stdin.setRawMode(true);
  stdin.on('keypress', take);
  stdin.resume();
  stdout.write(PASTES_ON);
  return () => {
    burst.close();
    stdin.off('data', come);
    stdin.off('keypress', take);
    stdin.setRawMode(false);
    stdin.pause();
    stdout.write(PASTES_OFF);
  };
}

/**
 * Text that comes faster than it is typed: as one text, since a key each would copy the text that is edited for every line, and indent it
 * again. What stands behind its last line break is a text of its own: it may go on.
 */
class Burst {
  readonly #give: (text: string) => void;
  #texts: string[] = [];
  #rest: NodeJS.Timeout | undefined;
  /** After what may have come while nobody could look. */
  #last: NodeJS.Immediate | undefined;

  constructor(give: (text: string) => void) {
    this.#give = give;
  }

  /** So many bytes are about to become keys. */
  come(bytes: number): void {
    clearImmediate(this.#last);
    if (this.#rest !== undefined) this.#rest.refresh();
    else if (bytes >= BURST_BYTES)
      this.#rest = setTimeout(() => {
        this.#last = setImmediate(() => this.end());
      }, BURST_REST_MS);
  }

  /** False for what is no part of a burst; what came before it is given first. */
  take(text: string | undefined, { name, ctrl, meta, shift }: Keypress): boolean {
    if (this.#rest === undefined) return false;
    const isBreak = name === 'return' || name === 'enter';
    const isIndent = name === 'tab' && !shift;
    if (isText(text, { ctrl, meta }) || (text !== undefined && !meta && (isBreak || isIndent))) {
      this.#texts.push(text);
      return true;
    }
    this.end();
    return false;
  }

  close(): void {
    clearTimeout(this.#rest);
    clearImmediate(this.#last);
    this.#rest = undefined;
  }

  end(): void {
    this.close();
    const all = withLineFeeds(this.#texts);
    this.#texts = [];
    const lines = all.lastIndexOf('\n') + 1;
    for (const text of [all.slice(0, lines), all.slice(lines)]) if (text !== '') this.#give(text);
  }
}

function withLineFeeds(texts: readonly string[]): string {
  return texts.join('').replace(/\r\n?/g, '\n');
}

function keyOf(text: string | undefined, key: Keypress): Key {
  const { name = '', ctrl, meta, shift } = key;
  return isText(text, key) ? textKey(text) : { name: meta ? '' : name, isCtrl: ctrl, isShift: shift, text: '' };
}

function textKey(text: string): Key {
  return { name: '', isCtrl: false, isShift: false, text };
}

function isText(text: string | undefined, { ctrl, meta }: Pick<Keypress, 'ctrl' | 'meta'>): text is string {
  return text !== undefined && !ctrl && !meta && text >= ' ' && text !== '\u007f';
}
