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

/** Calls `press` for every key, and once for everything that is pasted, however many lines it has; until the function that it gives is called. */
export function readKeys(stdin: NodeJS.ReadStream, stdout: NodeJS.WriteStream, press: (key: Key) => void): () => void {
  let pasted: string[] | undefined;
  const take = (text: string | undefined, key: Keypress): void => {
    if (key.name === 'paste-start') pasted = [];
    else if (key.name === 'paste-end') {
      const all = (pasted ?? []).join('').replace(/\r\n?/g, '\n');
      pasted = undefined;
      press({ name: '', isCtrl: false, isShift: false, text: all });
    } else if (pasted !== undefined) pasted.push(text ?? key.sequence);
    else press(keyOf(text, key));
  };
  emitKeypressEvents(stdin);
  stdin.setRawMode(true);
  stdin.on('keypress', take);
  stdin.resume();
  stdout.write(PASTES_ON);
  return () => {
    stdin.off('keypress', take);
    stdin.setRawMode(false);
    stdin.pause();
    stdout.write(PASTES_OFF);
  };
}

function keyOf(text: string | undefined, { name = '', ctrl, meta, shift }: Keypress): Key {
  const isText = text !== undefined && !ctrl && !meta && text >= ' ' && text !== '\u007f';
  return isText ? { name: '', isCtrl: false, isShift: false, text } : { name: meta ? '' : name, isCtrl: ctrl, isShift: shift, text: '' };
}
