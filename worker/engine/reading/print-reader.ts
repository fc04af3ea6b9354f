import { TIMESTAMP_MS_MAX } from '../../../shared/events/calendar.ts';
import { Names } from '../compile/names.ts';
import type { EventEntry } from '../fusion/event-entry.ts';
import { powersOfTen } from './decimal.ts';
import { type Envelope, JsonEnvelope } from './json-envelope.ts';
import type { Layout } from './layouts.ts';
import { printMatch } from './literal.ts';
import { marks, type ReadingState, times } from './marks.ts';
import { PlainTimes } from './plain-time.ts';
import { printChoice } from './print-choice.ts';
import { printDigits } from './print-digits.ts';
import { type LineContext, printEvtLine, printJsonLine } from './print-line.ts';
import type { TextTable } from './text-table.ts';

export type LineFormatName = 'evt' | 'jsonl';

/** Generated text with the table that `K` is in it. */
export interface PrintedText {
  readonly text: string;
  readonly constants: readonly unknown[];
}

/** Lines of this type, with their fields in this order. */
export interface ExpectedLine {
  readonly entry: EventEntry;
  readonly layout: Layout;
}

/** What a printed reader works with, besides the bytes. */
export interface ReaderSurroundings {
  readonly state: ReadingState;
  readonly texts: TextTable;
  /** Takes the line at this position the long way and returns the position behind it. */
  readonly slow: (at: number) => number;
}

/** What a printed reader of single events works with. */
export interface EventSurroundings extends Omit<ReaderSurroundings, 'slow'> {
  readonly envelope: (plainTimes: PlainTimes) => Envelope;
}

/**
 * Prints one reader for all these lines, of which the first are tried first. Loaded, it gives `(bytes, words, from, to)`, which reads the whole lines from `from`
 * to `to` and enters what it finds; `words` is a view of the same bytes. Up to 16 bytes behind `to` are looked at.
 */
export function printReader(expected: readonly ExpectedLine[], format: LineFormatName, surroundings: ReaderSurroundings): PrintedText {
  const { state, texts, slow } = surroundings;
  const printer = new ReaderPrinter({ state, texts, envelope: (plainTimes) => new JsonEnvelope(state, plainTimes) });
  return printer.printLines(expected, format, slow);
}

/**
 * Prints one reader for single JSON events of these forms. Loaded, it gives `(bytes, words, at)`, which enters the event at
 * `at` and returns the position behind it, or does nothing and returns 0. Up to 16 bytes behind the event are looked at.
 */
export function printEventReader(expected: readonly ExpectedLine[], surroundings: EventSurroundings): PrintedText {
  return new ReaderPrinter(surroundings).printEvent(expected);
}

class ReaderPrinter {
  readonly #names = new Names();
  readonly #known = new Map<unknown, string>();
  readonly #definitions: string[] = [];
  readonly #functions: string[] = [];
  readonly #context: LineContext;

  constructor({ state, texts, envelope }: EventSurroundings) {
    const plainTimes = new PlainTimes();
    const define = (constant: unknown): string => this.#define(constant);
    this.#context = {
      names: this.#names,
      define,
      texts,
      marks: define(state.marks),
      times: define(state.times),
      envelope: define(envelope(plainTimes)),
      plainTimes,
    };
  }

  printLines(expected: readonly ExpectedLine[], format: LineFormatName, slow: ReaderSurroundings['slow']): PrintedText {
    const choice = this.#choice(expected, format);
    const otherwise = this.#define(slow);
    return this.#text(format === 'evt' ? this.#evtLoop(choice, otherwise) : this.#jsonLoop(choice, otherwise));
  }

  printEvent(expected: readonly ExpectedLine[]): PrintedText {
    return this.#text(`(b0,w0,p0)=>{${this.#jsonEvent(this.#choice(expected, 'jsonl'))}return r0;}`);
  }

  #choice(expected: readonly ExpectedLine[], format: LineFormatName): string {
    const printLine = format === 'evt' ? printEvtLine : printJsonLine;
    const readers = expected.map(({ entry, layout }) => {
      const name = this.#names.mint('f');
      this.#functions.push(`const ${name}=${printLine(entry, layout, this.#context)};`);
      return { type: entry.type, name };
    });
    return printChoice(readers);
  }

  #text(reader: string): PrintedText {
    return {
      text: `'use strict';\n${[...this.#definitions, ...this.#functions].join('\n')}\nreturn ${reader};\n`,
      constants: this.#names.constants,
    };
  }

  /** A name for a constant: once defined, it costs no look at the table. */
  #define(constant: unknown): string {
    const known = this.#known.get(constant);
    if (known !== undefined) return known;
    const name = this.#names.mint('a');
    this.#known.set(constant, name);
    this.#definitions.push(`const ${name}=${this.#names.constant(constant)};`);
    return name;
  }

  /** An offset in front is kept at once: it counts for the lines behind it whatever becomes of this one. */
  #evtLoop(choice: string, slow: string): string {
    const { marks: m, times: t } = this.#context;
    const digits = `let m0=0;q0=p0+1;${printDigits('m0', 'q0', this.#define(powersOfTen))}`;
    const isOffset = `if(b0[q0]!==32||q0-p0<2||m0>${TIMESTAMP_MS_MAX}){p0=${slow}(p0);continue;}`;
    const offset = `if(b0[p0]===64){${digits}${isOffset}${t}[${times.current}]=m0;q0++;}`;
    return this.#loop(`${m}[${marks.lineStart}]=p0;let q0=p0;${offset}let r0=0;${choice}`, slow);
  }

  #jsonLoop(choice: string, slow: string): string {
    return this.#loop(this.#jsonEvent(choice), slow);
  }

  /** Statements that leave the position behind the event at `p0` in `r0`, 0 when it does not have the expected layout. */
  #jsonEvent(choice: string): string {
    const { marks: m, times: t, envelope } = this.#context;
    const begin = `${m}[${marks.lineStart}]=p0;${t}[${times.envelope}]=${t}[${times.none}];let q0=0;`;
    const heads = ['{"event_type":"', '{"event_type": "'].map((head) => `if(${printMatch(head)})q0=p0+${head.length};else `);
    return `${begin}${heads.join('')}q0=${envelope}.head(b0,w0,p0);let r0=0;if(q0!==0){${choice}}`;
  }

  #loop(line: string, slow: string): string {
    return `(b0,w0,p0,x0)=>{while(p0<x0){${line}p0=r0===0?${slow}(p0):r0;}}`;
  }
}
