import { compileFunction } from 'node:vm';
import type { Names } from './names.ts';

/** One type of event as all its lines in a file are written, and who takes what stands in them. */
export interface LineShape {
  readonly type: string;
  /** In written order. A name comes as its number. */
  readonly fields: Readonly<Record<string, 'name' | 'number'>>;
  readonly take: (time: number, ...values: number[]) => void;
}

/** Reads whole lines up to `end`. Returns their number. @throws Error at a line of another shape */
export type ReadLines = (bytes: Buffer, end: number) => number;

/** So many characters hold at most fifteen digits, which a double keeps. */
const EXACT_CHARACTERS_MAX = 16;
const POWERS_OF_TEN = Float64Array.from({ length: EXACT_CHARACTERS_MAX + 1 }, (_, power) => 10 ** power);

/** A reader for lines of these shapes alone, as one generated function: what a file whose writing is known can be read with. */
export function lineReader(shapes: readonly LineShape[], names: Names): ReadLines {
  const takers = shapes.map((_, index) => `take${index}`);
  const make = compileFunction(readerText(shapes), ['names', 'powers', 'notALine', ...takers]);
  return make(names, POWERS_OF_TEN, notALine, ...shapes.map(({ take }) => take)) as ReadLines;
}

function readerText(shapes: readonly LineShape[]): string {
  return `'use strict';
return (bytes, end) => {
  let at = 0, lines = 0;
  for (; at < end; lines++) {
    let time = 0, code = 0, from = 0, point = 0;
    if (bytes[at] !== ${codeOf('@')}) notALine();
    for (code = bytes[++at]; code !== ${codeOf(' ')}; code = bytes[++at]) time = time * 10 + (code - ${codeOf('0')});
    at++;
    ${shapes.map(shapeText).join(' else ')} else notALine();
  }
  return lines;
};`;
}

function shapeText({ type, fields }: LineShape, shape: number): string {
  const start = `${type} { `;
  const values = Object.entries(fields).map(([field, kind], index) => {
    const words = `${index === 0 ? '' : ', '}${field}: ${kind === 'name' ? '"' : ''}`;
    return `if (!(${standsHere(words)})) notALine();
      at += ${words.length};
      ${kind === 'name' ? nameText(index) : numberText(index)}`;
  });
  return `if (${standsHere(start)}) {
      at += ${start.length};
      ${values.join('\n      ')}
      if (!(${standsHere(' }\n')})) notALine();
      at += 3;
      take${shape}(time, ${values.map((_, index) => `value${index}`).join(', ')});
    }`;
}

function standsHere(words: string): string {
  return [...words].map((character, offset) => `bytes[at + ${offset}] === ${codeOf(character)}`).join(' && ');
}

function nameText(index: number): string {
  return `from = at;
      for (code = bytes[at]; code !== ${codeOf('"')}; code = bytes[++at]) if (code === ${codeOf('\\')} || code === undefined) notALine();
      const value${index} = names.idOf(bytes, from, at++);`;
}

function numberText(index: number): string {
  const value = `value${index}`;
  const isDigit = `code >= ${codeOf('0')} && code <= ${codeOf('9')}`;
  const goesOn = [',', ' ', '}', '\n'].map((character) => `code !== ${codeOf(character)}`).join(' && ');
  return `let ${value} = 0;
      from = at;
      point = 0;
      code = bytes[at] === ${codeOf('-')} ? bytes[++at] : bytes[at];
      for (;; code = bytes[++at]) {
        if (${isDigit}) ${value} = ${value} * 10 + (code - ${codeOf('0')});
        else if (code === ${codeOf('.')}) point = at;
        else break;
      }
      if (at - from > ${EXACT_CHARACTERS_MAX} || code === ${codeOf('e')}) {
        while (${goesOn}) code = bytes[++at];
        ${value} = +bytes.latin1Slice(from, at);
      } else {
        if (point > 0) ${value} /= powers[at - point - 1];
        if (bytes[from] === ${codeOf('-')}) ${value} = -${value};
      }`;
}

function codeOf(character: string): number {
  return character.charCodeAt(0);
}

function notALine(): never {
  throw new Error('not a line of this scenario');
}
